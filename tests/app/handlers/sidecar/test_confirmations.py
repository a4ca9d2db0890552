"""`/v3/sidecar/confirmations`, and `wait` beside a real HAProxy; what asks for one is in tests/app/api/test_write_options.py."""

import json
from collections.abc import Sequence

import pytest

from dataplaneapi.features.confirmations.feature import ConfirmationsFeature
from haproxy_native.features.confirmations.ledger import PENDING
from haproxy_native.request_context import NOBODY
from tests.app.client import CONFIG, Client
from tests.app.handlers.conftest import Beside
from tests.app.handlers.sidecar.test_history import entered

PATH = "/v3/sidecar/confirmations"
# What only a reload makes of a backend.
SLOW = {"balance": {"algorithm": "source"}}


def test_taken_back_by_its_client(client: Client) -> None:
    with entered(client):
        assert client.post(f"{CONFIG}/backends?version=1&confirm=1h", {"name": "one"}).status == 201
        assert client.patch(f"{PATH}/1", {"timeout": "2h"}).json["seconds_left"] > 7000
        assert 290 < client.patch(f"{PATH}/1", {"timeout": 300}).json["seconds_left"] <= 300
        assert [client.patch(f"{PATH}/1", {"timeout": each}).status for each in ("1s", 1, -5, "x", 1e99)] == [422] * 5
        assert client.delete(f"{PATH}/1").json["status"] == "returned"
        assert client.get(f"{CONFIG}/backends/one").status == 404


def test_a_transaction_that_was_refused_meanwhile_can_be_committed_then(client: Client) -> None:
    with entered(client):
        assert client.post(f"{CONFIG}/backends?version=1&confirm=1h", {"name": "one"}).status == 201
        path = f"/v3/services/haproxy/transactions/{client.post('/v3/services/haproxy/transactions?version=2').json['id']}"
        assert client.post(f"{CONFIG}/backends?transaction_id={path.rpartition('/')[2]}", {"name": "two"}).status == 202
        assert client.put(path).status == 409
        assert client.get(path).json["status"] == "in_progress"
        assert client.post(f"{PATH}/1/confirm", None).status == 200
        assert client.put(path).status == 202
        assert [client.get(f"{CONFIG}/backends/{name}").status for name in ("one", "two")] == [200, 200]


def test_one_that_is_confirmed_while_the_list_is_read(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    """The answer shows the status after the event of the confirmation, never the one before it."""
    with entered(client):
        assert client.post(f"{CONFIG}/backends?version=1&confirm=1h", {"name": "one"}).status == 201
        confirmations = ConfirmationsFeature.of(client.app.services).confirmations
        read = confirmations.entries

        async def confirming(id_: str) -> Sequence[int]:
            found = await read(id_)
            if confirmations.get(id_).status == PENDING:
                await confirmations.confirm(id_, NOBODY)
            return found

        monkeypatch.setattr(confirmations, "entries", confirming)
        (shown,) = client.get(PATH).json
        assert (shown["status"], shown["entries"]) == ("confirmed", ["1"]) and "seconds_left" not in shown


def test_of_a_change_that_needs_a_reload_and_of_the_process_alone(beside: Beside) -> None:
    """What needs a reload is loaded before the answer, and again when it goes back."""
    with entered(beside.client) as client:
        version = int(client.get(f"{CONFIG}/version").body)
        answer = client.post(f"{CONFIG}/backends?version={version}&confirm=1h", {"name": "passing", **SLOW})
        assert answer.status == 201 and "Reload-Id" not in answer.headers and answer.headers["Location"]
        assert "passing" in beside.haproxy.ask("show backend")
        assert client.delete(answer.headers["Location"]).json["status"] == "returned"
        assert "passing" not in beside.haproxy.ask("show backend")
        path = "/v3/services/haproxy/runtime/backends/app/servers/plain"
        answer = client.put(f"{path}?confirm=1h", {"admin_state": "drain", "weight": 3})
        assert answer.status == 200 and client.get(path).json["uweight"] == 3
        found = client.delete(answer.headers["Location"]).json
        assert found["status"] == "returned" and len(found["entries"]) == 1, found
        assert client.get(path).json["admin_state"] == "ready" and client.get(path).json["uweight"] == 10


def test_waiting_for_the_reload(beside: Beside) -> None:
    with entered(beside.client) as client:
        version = int(client.get(f"{CONFIG}/version").body)
        answer = client.post(f"{CONFIG}/backends?version={version}&wait=30s", {"name": "waited", **SLOW})
        assert answer.status == 201 and "Reload-Id" not in answer.headers and answer.json["name"] == "waited"
        assert "waited" in beside.haproxy.ask("show backend")
        deleted = client.delete(f"{CONFIG}/backends/waited?version={version + 1}&wait=30s")
        assert deleted.status == 204 and deleted.body == b""
        short = client.post(f"{CONFIG}/backends?version={version + 2}&wait=0s", {"name": "waited", **SLOW})
        assert short.status == 202 and short.headers["Reload-Id"]


def test_each_step_is_an_event(client: Client) -> None:
    with entered(client):
        answer = client.post(f"{CONFIG}/backends?version=1&confirm=1h", {"name": "one"})
        client.delete(answer.headers["Location"])
        sent = client.get("/v3/sidecar/events?types=confirmation&since=1m&end_after=0.05").body.decode()
        events = [json.loads(line.removeprefix("data: ")) for line in sent.splitlines() if line.startswith("data: ")]
        assert {each["object"] for each in events} == {"confirmation/1"}
        assert [each["data"]["status"] for each in events] == ["pending", "returned"]
        assert events[0]["data"]["expires"] == answer.headers["Confirmation-Expires"]
