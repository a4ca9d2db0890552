"""Call every operation with valid and invalid bodies, in a random order that is the same in each run. No call may make the server fail.

A body that the schema allows is accepted or refused with 4xx. An invalid body is refused with a message that names the member.
"""

import json
import logging
import re
from collections.abc import Iterator
from pathlib import Path
from random import Random
from urllib.parse import quote

import pytest

from dataplaneapi.api.operations import Operation
from haproxy_native.text.document import Document
from tests.acceptance.bodies import Bodies, Mutant
from tests.acceptance.targets import INDEXES, NAMES, SANE_NAME, target
from tests.app.client import CONFIG, Client, Got, settings
from tests.app.handlers.sidecar.test_history import entered

CONFIGURATION = Path(__file__).with_name("everything.cfg").read_text()
# Messages about the missing HAProxy are no failures of the server.
ABSENT = b"unable to configure runtime client"
METHODS_WITH_BODY = ("POST", "PUT", "PATCH")
# Whether to make all calls; `make test` makes only some.
EVERY = pytest.mark.parametrize("every", [False, pytest.param(True, marks=pytest.mark.soak)], ids=["some", "every"])


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """Return a client of a server without HAProxy. Its configuration has a section of each kind, all with the name `one`."""
    with Client(settings(tmp_path), CONFIGURATION) as client:
        yield client


@pytest.fixture
def recording(tmp_path: Path) -> Iterator[Client]:
    """Return a client of a server that supports confirmations."""
    with Client(settings(tmp_path), CONFIGURATION) as client, entered(client):
        yield client


@pytest.fixture
def bodies(client: Client) -> Bodies:
    return Bodies(client.app.services.bundle["components"]["schemas"], Random(20261121))


def written(client: Client) -> list[Operation]:
    """Yield the operations with a JSON body."""
    found = client.app.services.index.operations
    return [each for each in found if each.body is not None and "application/json" in each.body.media_types]


def assert_sound(got: Got, what: str) -> None:
    assert got.status < 500 or got.status == 501 or ABSENT in got.body, f"{what}: {got.status} {got.body[:500]!r}"
    if got.status >= 400:
        assert got.json["code"] == got.status, what
        assert got.json["message"].strip(), what
    assert int(got.headers["Configuration-Version"]) > 0, what


def kinds_of_paths(number: int, every: bool) -> tuple[bool, ...]:
    """Return for each call of an operation whether its path exists. Every fourth operation, or `every`, has a second call."""
    return (True, False) if every or number % 4 == 0 else (True,)


def versioned(client: Client, operation: Operation, path: str) -> str:
    """Return the path with the current version, if the operation has that parameter."""
    return f"{path}&version={client.engine.version(None)}" if any(each.name == "version" for each in operation.parameters) else path


@EVERY
@pytest.mark.parametrize("full", [False, True], ids=["plain", "full_section"])
def test_what_the_schema_allows_is_done_or_refused(
    client: Client, bodies: Bodies, full: bool, every: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """Written objects can be read and deleted. Calls use paths that exist and paths that do not."""
    random = Random(3)
    done = set()
    for number, operation in enumerate(written(client)):
        if full and not any(each.name == "full_section" for each in operation.parameters):
            continue
        for sane in kinds_of_paths(number, every):
            assert operation.body is not None
            body = bodies.valid(operation.body.schema)
            if sane and operation.method in ("PUT", "PATCH") and isinstance(body, dict) and "name" in body and "name" in operation.names:
                body["name"] = SANE_NAME
            where = f"{versioned(client, operation, target(operation, random, sane=sane))}&full_section={str(full).lower()}"
            got = client(operation.method, where, body)
            assert_sound(got, f"{operation.method} {where} {json.dumps(body)[:2000]}")
            if got.status < 300:
                done.add(operation)
    assert len(done) > (10 if full else len(written(client)) // 2), "most operations are to be reached in fact"
    assert_whole(client)
    read_everything(client, every)
    delete_everything(client, every)
    assert_whole(client)
    assert_nothing_failed(caplog)


def read_everything(client: Client, every: bool) -> None:
    random = Random(4)
    for number, operation in enumerate(client.app.services.index.operations):
        for sane in kinds_of_paths(number, every):
            where = target(operation, random, sane=sane)
            if operation.method == "GET":
                assert_sound(client.get(where), f"GET {where}")


def delete_everything(client: Client, every: bool) -> None:
    random = Random(6)
    for number, operation in enumerate(reversed(client.app.services.index.operations)):
        if operation.method == "DELETE":
            for sane in reversed(kinds_of_paths(number, every)):
                where = versioned(client, operation, target(operation, random, sane=sane))
                assert_sound(client.delete(where), f"DELETE {where}")


def assert_whole(client: Client) -> None:
    text = client.file.read_bytes()
    assert Document.parse(text).data == text


def assert_nothing_failed(caplog: pytest.LogCaptureFixture) -> None:
    assert [record.getMessage() for record in caplog.records if record.exc_info or record.levelno >= logging.ERROR] == []


# Hostile values of options that all writes have.
HOSTILE = (
    *NAMES,
    *INDEXES,
    *(
        "NaN",
        "inf",
        "-1s",
        "1e999s",
        "9" * 400,
        "9" * 5000 + "d",
        "0s",
        "24h1s",
        "٣s",
        "1_0s",
        "true",
        "TRUE",
        "null",
        "[]",
        "\0",
        "\ud800",
    ),
    *(
        "{",
        "{}",
        "[" * 100_000,
        '{"a":' * 20_000,
        '{"errors":NaN}',
        '{"errors":-1}',
        '{"errors":1e999}',
        '{"errors":null}',
        '{"errors":[]}',
    ),
    *('{"errors":"2"}', '{"errors":true}', '{"ready":1}', '{"ready":"true"}', '{"errors":2,"errors":3,"x":1}', '{"errors":2,"for":"60s"}'),
    *(
        '{"errors":2,"min_requests":-1}',
        '{"errors":2,"min_requests":1.5}',
        '{"errors":Infinity}',
    ),
    *('{"errors":2,"min_requests":1' + "0" * 5000 + "}", '{"ready":true,"\\ud800":1}', '{"ready":true,"min_requests":null}', '{"":{}}'),
)


@pytest.mark.parametrize("options", [("confirm", "guard"), pytest.param(("wait",), marks=pytest.mark.soak)], ids=lambda each: each[0])
def test_hostile_options_of_writes(recording: Client, options: tuple[str, ...], caplog: pytest.LogCaptureFixture) -> None:
    """Each option, alone and together with a valid `confirm`, is refused with a message or has no effect."""
    client = recording
    done = 0
    for option in options:
        for number, value in enumerate(dict.fromkeys(HOSTILE)):
            beside = "&confirm=1h" if number % 2 and option != "confirm" else ""
            query = f"{option}={quote(value, safe='', errors='surrogatepass')}{beside}"
            got = client.post(f"{CONFIG}/backends?version={client.engine.version(None)}&{query}", {"name": "fuzzed"})
            about = f"{query[:200]}: {got.status} {got.body[:300]!r}"
            assert got.status < 300 or got.status in (400, 404, 409, 413, 414, 422), about
            assert_sound(got, about)
            if got.status < 300:
                done += 1
                if location := got.headers.get("Location"):
                    assert client.delete(location).json["status"] == "returned", about
                else:
                    assert client.delete(f"{CONFIG}/backends/fuzzed?version={client.engine.version(None)}").status < 300, about
            else:
                assert len(got.message) < 2000, about
                assert client.get(f"{CONFIG}/backends/fuzzed").status == 404, about
    assert 0 < done < len(options) * len(HOSTILE) // 2
    assert all(each["status"] in ("void", "returned") for each in client.get("/v3/sidecar/confirmations").json)
    assert_nothing_failed(caplog)


@EVERY
def test_what_breaks_the_schema_is_refused_by_name(client: Client, bodies: Bodies, every: bool, caplog: pytest.LogCaptureFixture) -> None:
    random = Random(5)
    seen = set()
    for operation in written(client):
        assert operation.body is not None
        schema = operation.body.schema
        if (key := json.dumps(schema, sort_keys=True)) in seen:
            continue
        seen.add(key)
        before = client.file.read_bytes()
        # A quarter of the mutants, with another first mutant for each schema.
        mutants = list(bodies.mutants(schema))
        for mutant in mutants if every else mutants[len(seen) % 4 :: 4]:
            if (mutant.what == "null" and not operation.body.required) or (mutant.body == {} and operation.body.takes_one):
                continue
            where = versioned(client, operation, target(operation, random, sane=True))
            got = client(operation.method, where, mutant.body, headers={"Content-Type": "application/json"})
            about = f"{mutant.what}: {operation.method} {where} {str(mutant.body)[:300]}: {got.status} {got.body[:300]!r}"
            if ABSENT in got.body:
                # The handlers of runtime paths take more than the pattern says, and would ask HAProxy.
                continue
            if operation.method == "PATCH" and (mutant.what == "missing" or got.status == 404):
                # What is left out stays as it is, and the whole is looked at where there is something to change.
                continue
            assert got.status in (400, 422), about
            assert_sound(got, about)
            assert is_named(mutant, got), about
        assert client.file.read_bytes() == before
    assert_nothing_failed(caplog)


def is_named(mutant: Mutant, got: Got) -> bool:
    return not mutant.member or re.search(rf"(^|\W){re.escape(mutant.member)}\W", got.message) is not None
