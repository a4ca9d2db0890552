"""What only this server offers; called as handlers, whatever the document declares by now."""

from typing import Any

import jsonschema
import pytest

from app.handlers.sidecar import as_dict
from native.apply.plan import Reason
from native.apply.preview import Preview
from native.config.messages import Message
from tests.app.client import CONFIG, CONFIGURATION, Client
from tests.haproxy.sidecar import Sidecar

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


def conforms(sidecar: Sidecar, body: Any, schema: str) -> None:
    """To the schema that the server itself publishes, and nothing besides."""
    document = sidecar.get("/v3/specification_openapiv3").json()
    jsonschema.validate(body, {**document["components"]["schemas"][schema], "components": document["components"]})
    for shown, declared in ((body, schema), *((each, "reload_reason") for each in body["reasons"])):
        assert set(shown) <= set(document["components"]["schemas"][declared]["properties"])
    for message in body.get("messages", ()):
        assert set(message) <= set(document["components"]["schemas"]["haproxy_message"]["properties"])


def test_plans_beside_a_real_haproxy(sidecar: Sidecar) -> None:
    text = sidecar.haproxy.file.read_text()
    pid = sidecar.haproxy.worker_pid()

    def planned(old: str, new: str) -> Any:
        answer = sidecar.post(PLAN, text.replace(old, new, 1))
        assert answer.status_code == 200
        conforms(sidecar, answer.json(), "plan")
        return answer.json()

    live = planned("weight 10", "weight 30")
    assert (live["valid"], live["reload"], live["commands"]) == (True, False, ["set server app/one weight 30"])
    assert "-    server one" in live["diff"] and "weight 30   # the first" in live["diff"]
    reload = planned("roundrobin", "leastconn")
    line = text[: text.index("balance")].count("\n") + 1
    assert (reload["valid"], reload["reload"], reload["commands"]) == (True, True, [])
    assert (reload["reasons"][0]["section"], reload["reasons"][0]["line"], reload["reasons"][0]["keyword"]) == (
        "backend app",
        line,
        "balance",
    )
    wrong = planned("weight 10", "wieght 10")
    message = wrong["messages"][0]
    line = text[: text.index("server one")].count("\n") + 1
    assert (wrong["valid"], message["severity"], message["line"], message["section"]) == (False, "alert", line, "backend app from http")
    assert "'wieght'" in message["text"] and message["source"].startswith("server one")
    same = planned("weight 10", "weight 10")
    assert (same["diff"], same["commands"], same["reload"]) == ("", [], False)
    id_ = sidecar.transaction()
    sidecar.delete("backends/app/servers/two", transaction_id=id_)
    gone = sidecar.post(PLAN, transaction_id=id_).json()
    conforms(sidecar, gone, "plan")
    assert gone["commands"] == ["set server app/two state maint", "del server app/two"]
    unknown = sidecar.post(PLAN, transaction_id="00000000-0000-4000-8000-000000000000")
    assert (unknown.status_code, unknown.json()["code"]) == (400, 400)
    assert (sidecar.haproxy.file.read_text(), sidecar.version(), sidecar.haproxy.worker_pid()) == (text, 1, pid), "nothing changes"
    assert "10" in sidecar.haproxy.ask("get weight app/one").split()


@pytest.mark.parametrize("sidecar", [{"reload_delay": 600}], indirect=True)
def test_records_beside_a_real_haproxy(sidecar: Sidecar) -> None:
    """The first change waits until the second forces the reload of both."""
    pid = sidecar.haproxy.worker_pid()
    made = sidecar.post("backends", {"name": "more", "from": "http"}, version=1)
    path = f"/v3/sidecar/reloads/{made.headers['Reload-Id']}"
    conforms(sidecar, sidecar.get(path).json(), "reload_record")
    sidecar.post("backends", {"name": "most", "from": "http"}, version=2, force_reload=True)
    record = sidecar.get(path).json()
    conforms(sidecar, record, "reload_record")
    assert (record["status"], record["verified"], record["version"]) == ("succeeded", True, 3)
    assert (record["pid_before"], record["pid_after"]) == (pid, sidecar.haproxy.worker_pid())
    assert [reason["section"] for reason in record["reasons"]] == ["backend more", "backend most"]
    binds = "frontends/site/binds"
    assert sidecar.post(binds, {"name": "x", "address": "203.0.113.9", "port": 9}, version=3, force_reload=True).status_code == 400
    latest = f"{path.rpartition('-')[0]}-{int(path.rpartition('-')[2]) + 1}"
    refused = sidecar.get(latest).json()
    conforms(sidecar, refused, "reload_record")
    assert (refused["status"], refused["version"], refused["restored_version"], sidecar.version()) == ("failed", 4, 5, 5)
    assert "bind 203.0.113.9:9" in refused["refused"]
    assert "203.0.113.9" not in sidecar.haproxy.file.read_text()
