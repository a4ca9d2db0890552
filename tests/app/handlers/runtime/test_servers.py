"""Servers as the worker in service has them."""

from collections.abc import Iterator
from typing import Any

import pytest

from tests.app.handlers.conftest import RUNTIME, Beside

SERVERS = f"{RUNTIME}/backends/app/servers"
MANY = {"weight": 3, "ssl": "enabled", "inter": 2000, "check": "enabled", "ssl_cafile": "x"}
RAW = "/v3/services/haproxy/configuration/raw"


@pytest.fixture
def changing(beside: Beside) -> Iterator[Beside]:
    """What a test adds goes, what it changes goes back."""
    before = {server["name"]: server for server in beside.client.get(SERVERS).json}
    yield beside
    for server in beside.client.get(SERVERS).json:
        if server["name"] not in before:
            assert beside.client.delete(f"{SERVERS}/{server['name']}").status == 204
        else:
            members = ("address", "port", "weight", "admin_state")
            was = {member: before[server["name"]][member] for member in members}
            assert beside.client.put(f"{SERVERS}/{server['name']}", was).status == 200


def test_list_and_get(beside: Beside) -> None:
    servers = {server["name"]: server for server in beside.client.get(SERVERS).json}
    assert list(servers) == ["plain", "checked", "off", "kept"]
    off = beside.client.get(f"{SERVERS}/off").json
    shown = {**off, "last_time_change": 0, "backend_id": 0, "check_state": 0}
    assert shown == {
        "address": "127.0.0.1",
        "admin_state": "maint",
        "agent_addr": "-",
        "agent_port": 0,
        "agent_state": 0,
        "backend_forced_id": 0,
        "backend_id": 0,
        "backend_name": "app",
        "check_addr": "-",
        "check_health": 0,
        "check_port": 0,
        "check_result": 0,
        "check_state": 0,
        "check_status": 1,
        "forced_id": 0,
        "fqdn": "-",
        "id": "3",
        "iweight": 1,
        "last_time_change": 0,
        "name": "off",
        "operational_state": "down",
        "port": 4,
        "srvrecord": "-",
        "use_ssl": False,
        "uweight": 1,
        "weight": 1,
    }
    assert (servers["plain"]["weight"], servers["plain"]["admin_state"], servers["plain"]["operational_state"]) == (10, "ready", "up")
    assert beside.client.get(f"{RUNTIME}/backends/empty/servers").json == []


def test_what_is_not_there(beside: Beside) -> None:
    for path, text in {
        f"{RUNTIME}/backends/ghost/servers": "no data for ghost: not found",
        f"{RUNTIME}/backends/ghost/servers/plain": "no data for ghost/plain: not found",
        f"{SERVERS}/ghost": "no data for app/ghost: not found",
        f"{RUNTIME}/backends/no%20blank%5C/servers": "no data for no blank\\: not found",
    }.items():
        got = beside.client.get(path)
        assert (got.status, got.message) == (404, text)
    assert beside.client.get(f"{RUNTIME}/backends/a%3Bb/servers").status == 400


def test_states_weight_and_address_change_and_stay(changing: Beside) -> None:
    text = changing.haproxy.file.read_text()

    def put(**members: Any) -> Any:
        got = changing.client.put(f"{SERVERS}/plain", members)
        assert got.status == 200, got
        assert {**got.json, "last_time_change": 0} == {**changing.client.get(f"{SERVERS}/plain").json, "last_time_change": 0}
        return got.json

    assert put(admin_state="drain")["admin_state"] == "drain"
    assert put(admin_state="maint")["operational_state"] == "down"
    assert put(admin_state="ready", operational_state="up")["admin_state"] == "ready"
    assert put(operational_state="stopping")["operational_state"] == "stopping"
    assert put(operational_state="up")["operational_state"] == "up"
    assert put(weight=42)["weight"] == 42
    assert put(weight=0)["uweight"] == 0
    moved = put(address="127.0.0.9", port=99)
    assert (moved["address"], moved["port"]) == ("127.0.0.9", 99)
    assert put(port=98)["address"] == "127.0.0.9"
    assert put(address="::1")["address"] == "::1"
    assert put()["port"] == 98
    assert changing.haproxy.file.read_text() == text, "the file is not concerned"


def test_maintenance_asked_for_outlasts_an_inherited_one(changing: Beside) -> None:
    def put(name: str, state: str) -> None:
        assert changing.client.put(f"{SERVERS}/{name}", {"admin_state": state}).status == 200

    body = {"name": "tracking", "address": "127.0.0.1", "port": 1, "track": "app/checked"}
    assert changing.client.post(SERVERS, body).status == 201
    put("tracking", "ready")
    put("checked", "maint")
    assert changing.client.get(f"{SERVERS}/tracking").json["admin_state"] == "maint"
    put("tracking", "maint")
    put("checked", "ready")
    assert changing.client.get(f"{SERVERS}/tracking").json["admin_state"] == "maint"


def test_changes_that_are_refused_leave_nothing_behind(changing: Beside) -> None:
    before = changing.client.get(f"{SERVERS}/plain").json
    for body, status, words in (
        ({"weight": 300}, 400, "bad request: weight: 300 is outside 0..256"),
        ({"address": "nonsense.."}, 400, "address: 'nonsense..' is not an IP address"),
        ({"admin_state": "drain", "weight": 257}, 400, "bad request"),
        ({"admin_state": "sleepy"}, 422, "admin_state in body should be one of [ready maint drain]"),
        ({"port": 0}, 422, "port in body"),
        ({"address": "a b"}, 422, "address in body"),
    ):
        got = changing.client.put(f"{SERVERS}/plain", body)
        assert (got.status, words in got.message) == (status, True), got
        assert "place" not in got.json or got.json["place"]["member"] in body, got
    after = changing.client.get(f"{SERVERS}/plain").json
    # In seconds since then.
    assert after == {**before, "last_time_change": after["last_time_change"]}
    assert changing.client.put(f"{SERVERS}/ghost", {"weight": 1}).message == "no data for app/ghost: not found"


def test_what_haproxy_refuses_midway_is_taken_back(changing: Beside) -> None:
    """A static balance takes no other weight; the state that was set before goes back."""
    sticky = f"{RUNTIME}/backends/sticky/servers/one"
    got = changing.client.put(sticky, {"admin_state": "drain", "weight": 7})
    assert (got.status, "Backend is using a static LB algorithm" in got.message) == (409, True), got
    assert f"{changing.haproxy.master} [3]  " in got.message and got.message.endswith("[set server sticky/one weight 7]")
    assert changing.client.get(sticky).json["admin_state"] == "ready"


def test_a_server_comes_and_goes(changing: Beside) -> None:
    body = {"name": "d1", "address": "127.0.0.1", "port": 81, "weight": 4, "check": "enabled", "inter": 3_600_000, "maxconn": 5}
    got = changing.client.post(SERVERS, body)
    assert (got.status, got.json) == (201, body)
    made = changing.client.get(f"{SERVERS}/d1").json
    assert (made["address"], made["port"], made["weight"], made["admin_state"]) == ("127.0.0.1", 81, 4, "maint")
    assert made["check_state"] & 6 == 6, "its check is configured and enabled"
    assert changing.client.put(f"{SERVERS}/d1", {"admin_state": "ready"}).json["operational_state"] == "up"
    again = changing.client.post(SERVERS, {"name": "d1", "address": "127.0.0.1"})
    assert (again.status, "Already exists" in again.message) == (409, True)
    assert again.message.endswith("[add server app/d1  127.0.0.1]")
    assert changing.client.delete(f"{SERVERS}/d1").status == 204
    assert changing.client.delete(f"{SERVERS}/d1").message == "no data for app/d1: not found"


def test_a_server_that_may_say_it_is_in_service(changing: Beside) -> None:
    """HAProxy 2.8 takes the word with a warning, later ones do not get it."""
    assert changing.client.post(SERVERS, {"name": "d1", "address": "127.0.0.1", "port": 81, "maintenance": "disabled"}).status == 201
    assert changing.client.get(f"{SERVERS}/d1").status == 200


@pytest.mark.parametrize(("given", "address"), [("127.0.0.1:81", "127.0.0.1"), ("[::1]:81", "::1")])
def test_an_address_that_contains_the_port(changing: Beside, given: str, address: str) -> None:
    body = {"name": "d1", "address": given}
    made = changing.client.post(SERVERS, body)
    assert (made.status, made.json) == (201, body), made
    shown = changing.client.get(f"{SERVERS}/d1").json
    assert (shown["address"], shown["port"]) == (address, 81)
    assert changing.client.delete(f"{SERVERS}/d1").status == 204


def test_additions_that_are_refused(changing: Beside) -> None:
    place = {"address": "127.0.0.1", "port": 80}
    for backend, body, status, words in (
        ("ghost", {"name": "d1", **place}, 404, "No such backend"),
        ("ghost", {**place, **MANY, "name": "d1"}, 404, "[add server ghost/d1  127.0.0.1:80 ca-file x check inter 2000 ssl weight 3]"),
        ("app", place, 400, "the new server must have a name"),
        ("app", {"name": "d1"}, 400, "address"),
        ("app", {"name": "d4", **place, "track": "app/ghost"}, 400, "for tracking"),
        ("app", {"name": "d6", **place, "check": "maybe"}, 422, "check in body should be one of [enabled disabled]"),
        ("app", {"name": "d5", **place, "weight": 1000}, 400, "weight: 1000 is outside 0..256"),
        ("app", {"name": "d5", **place, "address": "localhost"}, 400, "address: 'localhost' is not an IP address"),
        ("app", {"name": "d5", **place, "address": "127.0.0.1:81"}, 400, "port in body is 80, but address '127.0.0.1:81' contains 81"),
        ("app", {"name": "d5", **place, "agent-addr": "127.1"}, 400, "agent-addr: '127.1' is not an IP address"),
        ("app", {"name": "d7;d8", **place, "track": "app/ghost"}, 400, "[add server app/d7\\;d8"),
        ("app", {"name": "d9\nd", **place}, 400, "line break"),
        ("sticky", {"name": "d1", **place}, 409, "dynamic"),
    ):
        got = changing.client.post(f"{RUNTIME}/backends/{backend}/servers", body)
        assert (got.status, words in got.message) == (status, True), got
    assert [server["name"] for server in changing.client.get(SERVERS).json] == ["plain", "checked", "off", "kept"]


def test_a_server_that_something_refers_to_stays_as_it_was(changing: Beside) -> None:
    got = changing.client.delete(f"{SERVERS}/kept")
    assert (got.status, "This server cannot be removed at runtime" in got.message) == (409, True), got
    assert changing.client.get(f"{SERVERS}/kept").json["admin_state"] == "ready"


def test_what_a_pushed_text_leaves_as_it_was(beside_one: Beside) -> None:
    def push(weight: int) -> Any:
        text = beside_one.client.get(RAW).body.decode().replace("127.0.0.1:1 weight 10", f"127.0.0.1:1 weight {weight}")
        text = text.replace("127.0.0.1:1 weight 11", f"127.0.0.1:1 weight {weight}")
        version = beside_one.client.get("/v3/services/haproxy/configuration/version").json
        return beside_one.client.post(f"{RAW}?version={version}", text.encode(), headers={"Content-Type": "text/plain"})

    assert "Reload-Id" not in push(11).headers, "a weight is live"
    assert beside_one.client.put(f"{SERVERS}/kept", {"weight": 77, "admin_state": "drain"}).status == 200
    plan = beside_one.client.post("/v3/sidecar/plan", beside_one.client.get(RAW).body, headers={"Content-Type": "text/plain"}).json
    assert plan["reasons"] == [] and plan["commands"] == []
    assert "Reload-Id" not in push(10).headers, "the text says nothing else of that server"
    kept = beside_one.client.get(f"{SERVERS}/kept").json
    assert (kept["admin_state"], kept["weight"]) == ("drain", 77), "what was set in the process stays"
    assert beside_one.client.put(f"{SERVERS}/kept", {"weight": 1, "admin_state": "ready"}).status == 200
    assert beside_one.client.post(SERVERS, {"name": "alone", "address": "127.0.0.1", "port": 9}).status == 201
    assert (pushed := push(11)).status == 202 and pushed.headers["Reload-Id"], "the text does not have this server"
