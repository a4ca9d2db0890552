"""What only this server offers; called as handlers, whatever the document declares by now."""

import pytest

from app.handlers.sidecar import as_dict
from native.apply.plan import Reason
from native.apply.preview import Preview
from native.config.messages import Message
from tests.app.client import CONFIG, CONFIGURATION, Client

PLAN = "/v3/sidecar/plan"


def test_a_plan_as_data() -> None:
    preview = Preview(
        "-a\n+b\n",
        ["set x"],
        [Reason("backend b", 7, "mode", "it is so"), Reason("", 0, "", "unknown")],
        False,
        [Message("alert", "no", line=3)],
    )
    assert as_dict(preview) == {
        "diff": "-a\n+b\n",
        "commands": ["set x"],
        "reload": True,
        "reasons": [{"section": "backend b", "line": 7, "keyword": "mode", "reason": "it is so"}, {"reason": "unknown"}],
        "valid": False,
        "messages": [{"severity": "alert", "text": "no", "line": 3}],
    }


def test_of_a_text(client: Client) -> None:
    text = CONFIGURATION.replace("maxconn 1000", "maxconn 5").encode()
    told = client.post(PLAN, text, headers={"Content-Type": "text/plain"}).json
    assert "+  maxconn 5" in told["diff"]
    assert (told["valid"], told["reload"], bool(told["reasons"])) == (True, True, True)
    assert client.file.read_text() == CONFIGURATION


def test_of_a_transaction(client: Client) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    client.post(f"{CONFIG}/backends?transaction_id={id_}", {"name": "be1"})
    assert "+backend be1" in client.post(f"{PLAN}?transaction_id={id_}").json["diff"]
    assert client.get(f"{CONFIG}/version").json == 1


@pytest.mark.parametrize(("query", "body"), [("", None), ("?transaction_id=x", b"global\n")])
def test_of_both_or_neither(client: Client, query: str, body: bytes | None) -> None:
    got = client.post(PLAN + query, body, headers={"Content-Type": "text/plain"})
    assert (got.status, "one of the two" in got.message) == (400, True)


def test_a_whole_record(client: Client) -> None:
    id_ = client.post(f"{CONFIG}/backends?version=1", {"name": "be1"}).headers["Reload-Id"]
    told = client.get(f"/v3/sidecar/reloads/{id_}").json
    assert (told["id"], told["status"], told["verified"]) == (id_, "in_progress", False)
    assert told["reasons"]
    missing = client.get("/v3/sidecar/reloads/2020-01-01-0")
    assert (missing.status, missing.message) == (404, "Reload with ID 2020-01-01-0 does not exist")
