"""Send bodies that break one rule of their schema, for each operation that writes configuration. Compare status and message.

`make test` sends a third of them, `make soak` all. Unknown members and null are accepted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dataplaneapi.api.operations import Operation
from tests.acceptance.bodies import WRONG_TYPE, Bodies, Schema, fits
from tests.app.client import CONFIG, Client, settings
from tests.laws.settings import part

EVERYTHING = Path(__file__).parents[1] / "acceptance" / "everything.cfg"
AGAINST = ("two words", "\x7f\t", "#", "é è", "-")
TRANSACTIONS = "/v3/services/haproxy/transactions"


@dataclass(frozen=True)
class Bad:
    """A body, the expected status, and an expected line of the message."""

    body: Any
    status: int
    text: str


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    with Client(settings(tmp_path_factory.mktemp("bad")), EVERYTHING.read_text()) as client:
        yield client


class Breaker:
    """Makes bad bodies from good ones."""

    def __init__(self, components: Mapping[str, Schema]) -> None:
        self.good = Bodies(components, Random(20261121))
        self.schemas = self.good.schemas

    def smallest(self, schema: Schema) -> Any:
        """Return an object with only its required members."""
        if self.schemas.kind(schema) == "array":
            return [self._value(self.schemas.resolve(schema)["items"])]
        properties = self.schemas.resolve(schema).get("properties", {})
        return {name: self._value(properties[name]) for name in properties if name in self.good.required(schema)}

    def _value(self, schema: Schema) -> Any:
        if self.schemas.kind(schema) in ("object", "array"):
            return self.smallest(schema)
        return "one" if self.schemas.kind(schema) == "string" and fits("one", self.schemas.resolve(schema)) else self.good.valid(schema)

    def bad(self, schema: Schema) -> Iterator[Bad]:
        """Yield a body for each way to break a rule. The rules of a list are broken in its only element."""
        if self.schemas.kind(schema) == "array":
            for each in self.bad(self.schemas.resolve(schema)["items"]):
                yield Bad([each.body], each.status, f"0.{each.text}" if each.status == 422 else each.text)
            return
        body = self.smallest(schema)
        properties = self.schemas.resolve(schema).get("properties", {})
        for name in sorted(self.good.required(schema) & set(properties)):
            without = {key: value for key, value in body.items() if key != name}
            yield Bad(without, 422, f"{name} in body is required")
            if self.schemas.kind(properties[name]) == "string":
                yield Bad({**without, name: ""}, 422, f"{name} in body is required and must not be empty")
        for name, inner in properties.items():
            for value, status, text in self._wrong(inner, name):
                yield Bad({**body, name: value}, status, text)

    def _wrong(self, schema: Schema, name: str) -> Iterator[tuple[Any, int, str]]:
        declared, kind = self.schemas.resolve(schema), self.schemas.kind(schema)
        if kind in WRONG_TYPE:
            yield WRONG_TYPE[kind], 400, name
        element = self.schemas.resolve(declared["items"]) if kind == "array" else declared
        if element.get("properties"):
            for inner in self.bad(schema):
                yield inner.body, inner.status, f"{name}.{inner.text}" if inner.status == 422 else inner.text
        if "enum" in declared:
            listed = " ".join(map(str, declared["enum"]))
            yield "nosuch" if kind == "string" else 123456, 422, f"{name} in body should be one of [{listed}]"
        if "minimum" in declared:
            # 0 says as much as nothing.
            yield declared["minimum"] - 1 or -1, 422, f"{name} in body should be greater than or equal to {declared['minimum']}"
        if "maximum" in declared:
            yield declared["maximum"] + 1, 422, f"{name} in body should be less than or equal to {declared['maximum']}"
        if "pattern" in declared and "enum" not in declared and (text := next((each for each in AGAINST if not fits(each, declared)), "")):
            yield text, 422, f"{name} in body should match '{declared['pattern']}'"


def schemas_of(client: Client) -> list[tuple[str, Operation]]:
    """One operation for each schema of a body."""
    found: dict[str, Operation] = {}
    for operation in client.app.services.index.operations:
        if operation.body is not None and "application/json" in operation.body.media_types and _is_configuration(operation):
            found.setdefault(str(operation.body.schema), operation)
    return list(found.items())


def _is_configuration(operation: Operation) -> bool:
    return operation.path.startswith(CONFIG.removeprefix("/v3")) and "/raw" not in operation.path


def where(operation: Operation, query: str) -> str:
    """Return the path of an object in everything.cfg, where all objects have the name `one`."""
    path = "/v3" + operation.path
    for name in operation.names:
        path = path.replace("{" + name + "}", "0" if name == "index" else "one")
    asked = [f"{each.name}=one" for each in operation.parameters if each.location == "query" and each.required]
    return f"{path}?{'&'.join([*asked, query])}"


@cache
def breaker(client: Client) -> Breaker:
    return Breaker(client.app.services.bundle["components"]["schemas"])


def test_each_rule_is_told_as_the_reference_does_and_nothing_is_written(client: Client) -> None:
    before, version, wrong, count = client.file.read_bytes(), client.engine.version(None), [], 0
    for _, operation in schemas_of(client):
        assert operation.body is not None
        for bad in part(list(breaker(client).bad(operation.body.schema)), operation.path):
            got = client(operation.method, where(operation, f"version={version}"), bad.body)
            message = str(got.json.get("message", "")) if got.body else ""
            count += 1
            if (got.status, got.json.get("code")) != (bad.status, bad.status) or not is_told(bad, message):
                wrong.append(f"{operation.method} {operation.path} {bad}: {got.status} {message[:300]}")
    assert wrong == [], f"{len(wrong)} of {count}"
    assert count > 1000
    assert client.file.read_bytes() == before
    assert client.engine.version(None) == version


def is_told(bad: Bad, message: str) -> bool:
    """Return whether a message has the expected line. For a wrong type, only the beginning and the member are compared."""
    return (
        bad.text in message.split("\n")
        if bad.status == 422
        else message.startswith("failed to decode request body: ") and bad.text in message
    )


def test_unknown_members_and_null_change_nothing(client: Client) -> None:
    for _, operation in schemas_of(client):
        assert operation.body is not None
        schema = operation.body.schema
        items = breaker(client).schemas.resolve(schema).get("items")
        body = breaker(client).smallest(schema)
        plain = body[0] if items else body
        properties = breaker(client).schemas.resolve(items or schema).get("properties", {})
        more = {**plain, "nosuch": {"a": [1]}, **{name: None for name in properties if name not in plain}}
        assert outcome(client, operation, [more] if items else more) == outcome(client, operation, body), operation.path


def outcome(client: Client, operation: Operation, body: Any) -> tuple[int, Any, Any]:
    """Write a body in a transaction, and delete the transaction. Return status and answer, and the text that a commit would write."""
    opened = client.post(f"{TRANSACTIONS}?version={client.engine.version(None)}").json["id"]
    got = client(operation.method, where(operation, f"transaction_id={opened}"), body)
    text = client.get(f"{CONFIG}/raw?transaction_id={opened}").body
    client.delete(f"{TRANSACTIONS}/{opened}")
    return got.status, got.json if got.body else None, text
