"""`/v3/sidecar/operations`: listed in pages, waited for, cancelled."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dataplaneapi.settings.roles import read_roles
from tests.app.client import Client, serving

PATH, RELOADS = "/v3/sidecar/operations", "/v3/sidecar/reloads"


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    with serving(tmp_path) as client:
        operations = client.app.services.operations
        client.runner.run(operations.__aenter__())
        yield client
        client.runner.run(operations.__aexit__())


def test_a_life(client: Client) -> None:
    begun = client.post(f"{RELOADS}?after=1h")
    assert (begun.status, begun.headers["Location"]) == (202, f"{PATH}/1")
    assert (begun.json["kind"], begun.json["status"], begun.json["progress"]) == ("reload", "running", {})
    assert set(begun.json) == {"id", "kind", "status", "created", "due", "progress"}
    assert client.get(PATH).json == [begun.json] == client.get(f"{PATH}?status=running").json
    assert client.get(f"{PATH}/1").json == begun.json
    assert client.delete(f"{PATH}/1").status == 204
    ended = client.get(f"{PATH}/1").json
    assert (ended["status"], "ended" in ended) == ("cancelled", True)
    assert client.get(f"{PATH}?status=running").json == []
    again = client.delete(f"{PATH}/1")
    assert (again.status, again.message) == (409, "operation 1 has ended: it is cancelled")


def test_waiting(client: Client) -> None:
    client.post(f"{RELOADS}?after=1h")
    assert client.get(f"{PATH}/1?wait=300ms").json["status"] == "running"
    client.post(RELOADS)
    ended = client.get(f"{PATH}/2?wait=30").json
    assert ended["status"] == "succeeded"
    assert client.get(f"/v3/services/haproxy/reloads/{ended['progress']['reload_id']}").json["status"] == "succeeded"


def test_what_an_operation_works_on_is_for_its_initiator_and_who_may_read_operations(client: Client) -> None:
    client.post(f"{RELOADS}?after=1h")
    operations = client.app.services.operations
    operations.store(
        replace(operations.get("1"), progress={"servers": "shop/web1"}, error="web1 is gone", by={"group": "users", "name": "ann"})
    )
    users = [{"name": "admin", "role": "some"}]
    for rule, seen in (("backend/shop", False), ("operation/*", True)):
        roles = {"some": [{"objects": rule}], "all": [{"objects": "**", "may": ["read", "create", "change", "delete"]}]}
        client.app.services.roles = read_roles(roles, {"certificates": {"root": "admin"}}, users)
        shown = client.get(f"{PATH}/1").json
        assert (shown["status"], bool(shown["progress"]), "error" in shown) == ("running", seen, seen)


def test_pages(client: Client) -> None:
    for _ in range(3):
        client.post(f"{RELOADS}?after=2m")
    first = client.get(f"{PATH}?limit=2")
    assert [each["id"] for each in first.json] == ["3", "2"]
    assert first.headers["Link"] == '<?limit=2&before=2>; rel="next"'
    second = client.get(f"{PATH}?limit=2&before=2")
    assert ([each["id"] for each in second.json], "Link" in second.headers) == (["1"], False)


@pytest.mark.parametrize(
    ("method", "target", "status", "text"),
    [
        ("GET", f"{PATH}/9", 404, "operation 9 does not exist"),
        ("DELETE", f"{PATH}/nine", 404, "operation nine does not exist"),
        ("GET", f"{PATH}/1?wait=soon", 400, "Invalid format for parameter wait: 'soon' is not a duration such as 10s, 500ms or 1h30m"),
        ("GET", f"{PATH}/1?wait=11m", 400, "wait in query: 660 seconds exceed the maximum of 600"),
        ("GET", f"{PATH}?limit=0", 400, "limit in query: number must be at least 1"),
        ("POST", f"{RELOADS}?after=-1", 400, "Invalid format for parameter after: '-1' is not a duration such as 10s, 500ms or 1h30m"),
    ],
)
def test_what_is_refused(client: Client, method: str, target: str, status: int, text: str) -> None:
    got = client(method, target)
    assert (got.status, got.message) == (status, text)


def test_more_than_may_run(client: Client) -> None:
    answers = [client.post(f"{RELOADS}?after=1h").status for _ in range(101)]
    assert answers == [202] * 100 + [429]
