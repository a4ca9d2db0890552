"""What a request asks for, and the event of its answer."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.settings.audit import AuditSettings
from haproxy_native.commit.events import FAILED, GRANTED, LIMITED, LOGIN, READ, REFUSED, Committed, RequestAnswered
from tests.app.client import CONFIG, Client, serving

SERVER = {"name": "app2", "address": "127.0.0.1"}


@pytest.fixture
def events(client: Client) -> Iterator[list[Any]]:
    found: list[Any] = []
    client.engine.context.events.listen(lambda event: found.append(event) if isinstance(event, RequestAnswered | Committed) else None)
    return found  # type: ignore[return-value]


def test_a_commit_has_one_event_alone(client: Client, events: list[Any]) -> None:
    assert client.post(f"{CONFIG}/backends/app/servers?version=1", SERVER).status == 202
    assert client.post(f"{CONFIG}/backends/app/servers?version=2", SERVER).status == 409
    assert [type(event) for event in events] == [Committed, Committed]
    assert {(event.change.author.request.operation, event.change.author.request.object) for event in events} == {
        ("createServerBackend", "backend/app/server/app2")
    }


@pytest.mark.parametrize(
    ("method", "target", "body", "outcome", "object_"),
    [
        ("DELETE", f"{CONFIG}/backends/none?version=1", None, REFUSED, "backend/none"),
        ("PUT", f"{CONFIG}/backends/app/servers/app1?version=7", {"name": "app1", "address": "a"}, REFUSED, "backend/app/server/app1"),
        ("POST", f"{CONFIG}/backends/app/servers?version=1", {"name": 5}, REFUSED, "backend/app/server"),
        ("PUT", f"{CONFIG}/backends/app/acls/7?version=1", {}, REFUSED, "backend/app/acl/7"),
        ("PUT", f"{CONFIG}/global/log_targets/7?version=1", {}, REFUSED, "global//log_target/7"),
        ("DELETE", "/v3/services/haproxy/storage/maps/none.map", None, REFUSED, "map/none.map"),
        ("POST", "/v3/services/haproxy/transactions?version=1", None, GRANTED, ""),
        ("DELETE", "/v3/services/haproxy/transactions/none", None, REFUSED, "transaction/none"),
        ("DELETE", "/v3/sidecar/tokens/none", None, REFUSED, "token/none"),
        ("POST", "/v3/sidecar/confirmations/none/confirm", None, REFUSED, "confirmation/none"),
        ("DELETE", "/v3/services/haproxy/runtime/backends/b/servers/s", None, FAILED, "backend/b/server/s"),
        ("DELETE", "/v3/services/haproxy/runtime/maps/m/entries/key", None, FAILED, "map/m.map"),
        ("DELETE", "/v3/services/haproxy/spoe/spoe_files/f", None, GRANTED, "spoe/f"),
        ("DELETE", "/v3/service_discovery/aws/7", None, REFUSED, "aws/7"),
    ],
)
def test_what_comes_to_no_commit(
    client: Client, events: list[Any], method: str, target: str, body: Any, outcome: str, object_: str
) -> None:
    got = client(method, target, body)
    (event,) = events
    if isinstance(event, RequestAnswered):
        assert (event.outcome, event.reason) == (outcome, got.message if got.status >= 400 else "")
        request = event.author.request
    else:
        request = event.change.author.request
    assert request and (request.object, request.path) == (object_, target.partition("?")[0]), got.body


def test_an_edit_of_a_transaction(client: Client, events: list[Any]) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    client.post(f"{CONFIG}/backends/app/servers?transaction_id={id_}", SERVER)
    client.put(f"/v3/services/haproxy/transactions/{id_}")
    _, edit, commit = events
    assert edit.outcome == GRANTED and edit.author.request.object == "backend/app/server/app2"
    assert isinstance(commit, Committed) and commit.result


@pytest.mark.parametrize(("auth", "kinds"), [("admin:wrong", [(REFUSED, LOGIN, "admin")]), (None, []), ("admin:adminpwd", [])])
def test_logins(client: Client, events: list[Any], auth: str | None, kinds: list[Any]) -> None:
    client.get("/v3/info", auth=auth)
    client.get("/livez", auth=auth)
    client.get("/v3/nowhere", auth=auth)
    assert [(event.outcome, event.kind, event.login) for event in events] == 2 * kinds


def test_logins_among_too_many(client: Client, events: list[Any]) -> None:
    for _ in range(6):
        client.get("/v3/info", auth="admin:wrong")
    assert [event.outcome for event in events] == [REFUSED] * 5 + [LIMITED]


@pytest.mark.parametrize("reads", [True, False])
def test_reads(tmp_path: Path, reads: bool) -> None:
    with serving(tmp_path) as client:
        found: list[Any] = []
        client.app.services.audit.change(AuditSettings(tmp_path / "audit.log", reads))
        client.engine.context.events.listen(found.append)
        for _ in range(2):
            client.get(f"{CONFIG}/backends/app/servers/app1")
        client.post("/v3/sidecar/plan", {})
        client.post(f"{CONFIG}/raw?only_validate=true&version=1", b"", headers={"content-type": "text/plain"})
        client.get(f"{CONFIG}/backends/none")
        client.app.services.audit.close()
        asked = [event for event in found if isinstance(event, RequestAnswered)]
        assert [event.outcome for event in asked] == ([GRANTED, GRANTED, REFUSED, REFUSED, REFUSED] if reads else [])
        assert all(event.kind == READ for event in asked)
