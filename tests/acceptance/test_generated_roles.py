"""Call all operations with random roles: no call changes an object that the caller may not change.

A new operation without declared permissions is permitted only to callers that may do everything.
"""

from collections.abc import Iterator
from pathlib import Path
from random import Random
from typing import Any

import pytest

from dataplaneapi.api.operations import EFFECTS, Operation
from dataplaneapi.settings.roles import read_roles
from haproxy_native.access.rights import AccessRule
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.object_names import covers, kind_of
from haproxy_native.planning.effects import effects
from haproxy_native.text.document import Document
from tests.acceptance.bodies import Bodies
from tests.acceptance.targets import SANE_NAME, target
from tests.acceptance.test_fuzz import CONFIGURATION
from tests.app.client import Client, settings

ROLES = 12
SEEDS = [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, ROLES))]
STORES = {"maps": "map", "ssl": "certificate", "general": "general", "spoe": "spoe"}
RESOURCES = [each for each in Editor().resources.by_name.values() if not each.file]
PATTERNS = (
    *(f"{kind_of(each)}/**" for each in RESOURCES if each.section and not each.parents),
    *(f"*/*/{kind_of(each)}/*" for each in RESOURCES if each.parents),
    *("backend/*", "frontend/one", "backend/one/**", "map/*", "certificate/*", "general/*", "spoe/**"),
)
VERBS = ("create", "change", "delete")


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    for name in STORES:
        (tmp_path / name).mkdir()
        (tmp_path / name / "one").write_text("one 1\n")
    with Client(settings(tmp_path), CONFIGURATION) as client:
        yield client


def generated(random: Random) -> list[AccessRule]:
    return [AccessRule(random.choice(PATTERNS), frozenset(random.sample(VERBS, random.randint(1, 3)))) for _ in range(random.randint(1, 3))]


def files(client: Client) -> dict[str, bytes]:
    """Return the stored files, by object name."""
    directory = client.file.parent
    return {f"{kind}/{each.name}": each.read_bytes() for name, kind in STORES.items() for each in (directory / name).iterdir()}


def changed_objects(before: tuple[bytes, dict[str, bytes]], client: Client) -> list[tuple[str, str]]:
    """Return the changed objects, each with the kind of change."""
    return [*_changed(before, client)]


def _changed(before: tuple[bytes, dict[str, bytes]], client: Client) -> Iterator[tuple[str, str]]:
    if (now := client.file.read_bytes()) != before[0]:
        found = effects(Document.parse(before[0]), Document.parse(now))
        gone, come = ({each.object for each in found if not each.member and getattr(each, side) is None} for side in ("new", "old"))
        for effect in found:
            is_changed = effect.member or effect.object in gone & come
            yield effect.object, "change" if is_changed else "create" if effect.old is None else "delete"
    there = files(client)
    for name in before[1].keys() | there.keys():
        if before[1].get(name) != there.get(name):
            yield name, "create" if name not in before[1] else "change" if name in there else "delete"


def writes(client: Client) -> list[Operation]:
    return [each for each in client.app.services.index.operations if each.method != "GET" and "/transactions" not in each.path]


def body_of(bodies: Bodies, operation: Operation) -> Any:
    if operation.body is None or "application/json" not in operation.body.media_types:
        return None
    body = bodies.valid(operation.body.schema)
    if operation.method in ("PUT", "PATCH") and isinstance(body, dict) and "name" in body and "name" in operation.names:
        body["name"] = SANE_NAME
    return body


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_out_of_bounds_changes(client: Client, seed: int) -> None:
    random = Random(seed)
    rules = generated(random)
    given = [{"objects": rule.objects, "may": sorted(rule.may)} for rule in rules]
    client.app.services.roles = read_roles({"some": given}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    bodies = Bodies(client.app.services.bundle["components"]["schemas"], random)
    refused = 0
    for operation in writes(client):
        before = client.file.read_bytes(), files(client)
        where = f"{target(operation, random, sane=True)}&version={client.engine.version(None)}"
        answer = client(operation.method, where, body_of(bodies, operation))
        assert answer.status < 500 or b"runtime client" in answer.body, (where, answer.body)
        refused += answer.status == 403
        for object_, verb in changed_objects(before, client):
            assert any(verb in rule.may and covers(rule.objects, object_) for rule in rules), (given, operation, object_, verb)
    assert refused > 100, "most is denied"


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_out_of_bounds_changes_in_a_batch(client: Client, seed: int) -> None:
    random = Random(seed)
    rules = generated(random)
    given = [{"objects": rule.objects, "may": sorted(rule.may), "reload": "any"} for rule in rules]
    client.app.services.roles = read_roles({"some": given}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    bodies = Bodies(client.app.services.bundle["components"]["schemas"], random)
    batched = [each for each in writes(client) if each.is_batched]
    outcomes = set()
    for _ in range(40):
        chosen = [random.choice(batched) for _ in range(random.randint(1, 3))]
        calls = [
            {"method": each.method, "path": target(each, random, sane=True), "body": body_of(bodies, each)}
            | ({"content_type": "application/merge-patch+json"} if each.method == "PATCH" else {})
            for each in chosen
        ]
        before = client.file.read_bytes(), files(client)
        answer = client.post("/v3/sidecar/batch", calls)
        outcomes.add(answer.status)
        assert answer.status < 500, (calls, answer.body)
        found = changed_objects(before, client)
        assert not found or answer.status in (200, 202), (calls, answer.body)
        for object_, verb in found:
            assert any(verb in rule.may and covers(rule.objects, object_) for rule in rules), (given, calls, object_, verb)
    assert 403 in outcomes


def test_what_declares_nothing_is_for_those_who_may_do_everything(client: Client) -> None:
    every = [{"objects": pattern, "may": ["read", *VERBS]} for pattern in ("*", "*/**", "**/*")]
    client.app.services.roles = read_roles({"some": every}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    undeclared = [each for each in writes(client) if not each.access]
    answers = {operation: client(operation.method, target(operation, Random(1), sane=True), {}).status for operation in undeclared}
    assert {*answers.values()} <= {403, 400, 415, 422}, answers
    assert 403 in answers.values()
    assert {each.access for each in writes(client) if each.resource} == {EFFECTS}


@pytest.mark.parametrize("seed", SEEDS)
def test_nor_by_a_transaction(client: Client, seed: int) -> None:
    random = Random(seed)
    rules = generated(random)
    given = [{"objects": rule.objects, "may": sorted(rule.may)} for rule in rules]
    client.app.services.roles = read_roles({"some": given}, {"certificates": {"root": "admin"}}, [{"name": "admin", "role": "some"}])
    bodies = Bodies(client.app.services.bundle["components"]["schemas"], random)
    before = client.file.read_bytes(), files(client)
    transaction = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    edits = [each for each in writes(client) if "transaction_id" in {parameter.name for parameter in each.parameters}]
    statuses = [
        client(each.method, f"{target(each, random, sane=True)}&transaction_id={transaction}", body_of(bodies, each)).status
        for each in edits
    ]
    assert changed_objects(before, client) == []
    committed = client("PUT", f"/v3/services/haproxy/transactions/{transaction}").status
    assert committed == 202 and statuses.count(403) > 100
    for object_, verb in changed_objects(before, client):
        assert any(verb in rule.may and covers(rule.objects, object_) for rule in rules), (given, object_, verb)
