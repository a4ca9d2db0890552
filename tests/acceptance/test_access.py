"""Test roles with a real HAProxy: a permission has the same effect for every call that makes the same change."""

import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.quick import PLAIN, SERVICES, Quick
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import USER
from tests.until import until

CONFIG = """\
frontend site from plain
    bind 127.0.0.1:{site}
    http-request set-header X-To %[path,map({maps}/hosts.map)]
    default_backend shop_a

backend shop_a from plain
    server one 127.0.0.1:1 weight 10
    server two 127.0.0.1:2 weight 20

userlist people
    group g1
    user ann insecure-password secret-1

backend other from plain
    server one 127.0.0.1:3 weight 10
"""
USERS = {"ci": "weights", "team": "team", "reader": "viewer", "helper": "operator", "editor": "editor", "nobody": None}
ROLES = {
    "weights": [
        {"objects": "**", "may": ["read"]},
        {"objects": "backend/shop_*/server/*", "fields": ["weight"], "may": ["read", "change"], "reload": "never"},
    ],
    "team": [{"objects": "backend/shop_*", "may": ["read", "create", "change", "delete"]}, {"objects": "map/shop_*", "may": ["create"]}],
}


def settings() -> dict[str, Any]:
    users = [{"name": USER[0], "password": USER[1], "insecure": True, "role": "admin"}]
    users += [{"name": name, "password": name, "insecure": True, **({"role": role} if role else {})} for name, role in USERS.items()]
    return {"user": users, "roles": ROLES}


@pytest.fixture
def sidecar(tmp_path: Path, haproxy_binary: str) -> Iterator[Quick]:
    maps = tmp_path / "maps_dir"
    maps.mkdir()
    (maps / "hosts.map").write_text("/a one\n")
    config = (PLAIN + CONFIG).format(site=free_port(), maps=maps)
    with HAProxy(tmp_path, config, binary=haproxy_binary) as haproxy, Quick(haproxy, dataplaneapi=settings()) as running:
        yield running


class Caller:
    def __init__(self, sidecar: Quick, name: str) -> None:
        self.sidecar = sidecar
        self.name = name

    def ask(self, method: str, path: str, body: Any = None, **query: Any) -> httpx2.Response:
        path = path if path.startswith("/") else f"{SERVICES}/configuration/{path}"
        content = {"content": body, "headers": {"content-type": "text/plain"}} if isinstance(body, str) else {"json": body} if body else {}
        return self.request(method, path, params=query, **content)

    def request(self, method: str, path: str, **more: Any) -> httpx2.Response:
        return httpx2.request(
            method, f"http://127.0.0.1:{self.sidecar.port}{path}", auth=(self.name, self.name), timeout=60, verify=False, **more
        )

    def put_server(self, backend: str, name: str, **members: Any) -> httpx2.Response:
        path = f"backends/{backend}/servers/{name}"
        server = self.sidecar.get(path).json() | members
        return self.ask("PUT", path, server, version=self.sidecar.version())


def test_weights_alone_by_every_call(sidecar: Quick) -> None:
    ci, version = Caller(sidecar, "ci"), sidecar.version
    assert ci.put_server("shop_a", "one", weight=11).status_code == 200
    refused = ci.put_server("shop_a", "one", port=7)
    assert refused.status_code == 403 and "may not change port of backend/shop_a/server/one" in refused.json()["message"]
    assert ci.put_server("other", "one", weight=11).status_code == 403
    assert ci.ask("DELETE", "backends/shop_a/servers/one", version=version()).status_code == 403
    text = sidecar.text()
    pushed = ci.ask("POST", "raw", text.replace("weight 11", "weight 12"), version=version())
    assert pushed.status_code in (201, 202) and "weight 12" in sidecar.text(), pushed.text
    before = sidecar.text()
    for other in (
        text.replace("weight 20", "weight 30 check"),
        text + "\nbackend more from plain\n",
        text.replace("mode http", "mode tcp", 1),
    ):
        answer = ci.ask("POST", "raw", other, version=version())
        assert answer.status_code == 403, answer.text
        assert sidecar.text() == before
    transaction = ci.ask("POST", f"{SERVICES}/transactions", version=version()).json()["id"]
    server = {"name": "two", "address": "127.0.0.1", "port": 2, "weight": 5}
    edit = ci.ask("PUT", "backends/shop_a/servers/two", server, transaction_id=transaction)
    assert edit.status_code in (200, 202), edit.text
    assert ci.ask("DELETE", "backends/other", transaction_id=transaction).status_code == 403
    assert ci.ask("PUT", f"{SERVICES}/transactions/{transaction}").status_code in (200, 202)
    assert "weight 5" in sidecar.text() and "backend other" in sidecar.text()
    forced = ci.ask("PUT", "backends/shop_a/servers/two", server | {"weight": 6}, version=version(), force_reload=True)
    assert forced.status_code == 403 and "needs a reload" in forced.json()["message"]


def test_who_may_change_a_server_sets_it_back(sidecar: Quick) -> None:
    """A PUT of the configured server sets the process back. With a permission for the weight alone, the PUT changes nothing."""
    haproxy = sidecar.haproxy
    for name, backend, weight in (("team", "shop_a", "10"), ("editor", "other", "10"), ("ci", "shop_a", "5")):
        haproxy.ask(f"set server {backend}/one weight 5")
        assert Caller(sidecar, name).put_server(backend, "one").status_code == 200
        assert haproxy.ask(f"get weight {backend}/one").split()[0] == weight, name
        assert (f"backend/{backend}/server/one" in sidecar.get("/v3/sidecar/drift").text) == (weight == "5"), name


def test_a_team_of_its_own_backends(sidecar: Quick) -> None:
    team, version = Caller(sidecar, "team"), sidecar.version
    assert team.ask("POST", "backends", {"name": "shop_b", "from": "plain"}, version=version()).status_code in (201, 202)
    assert team.ask("POST", "backends", {"name": "b", "from": "plain"}, version=version()).status_code == 403
    assert team.ask("DELETE", "backends/shop_b", version=version()).status_code in (202, 204)
    stored = f"{SERVICES}/storage/maps"
    files = lambda name: {"file_upload": (name, b"a b\n")}  # noqa: E731
    assert team.request("POST", stored, files=files("shop_hosts.map")).status_code == 201
    assert team.request("POST", stored, files=files("others.map")).status_code == 403
    assert team.ask("DELETE", f"{stored}/shop_hosts.map").status_code == 403
    assert (sidecar.directory / "maps_dir" / "shop_hosts.map").exists() and not (sidecar.directory / "maps_dir" / "others.map").exists()


def test_a_transaction_is_its_authors(sidecar: Quick) -> None:
    team, ci, reader = Caller(sidecar, "team"), Caller(sidecar, "ci"), Caller(sidecar, "reader")
    transactions = f"{SERVICES}/transactions"
    own = f"{transactions}/{team.ask('POST', transactions, version=sidecar.version()).json()['id']}"
    assert team.ask("GET", own).status_code == 200 and len(team.ask("GET", transactions).json()) == 1
    others = f"{transactions}/{ci.ask('POST', transactions, version=sidecar.version()).json()['id']}"
    assert team.ask("GET", others).status_code == 403 and len(team.ask("GET", transactions).json()) == 1
    assert reader.ask("GET", own).status_code == 200 and len(reader.ask("GET", transactions).json()) == 2
    edit = ci.ask("POST", "backends", {"name": "shop_c", "from": "plain"}, transaction_id=own.rpartition("/")[2])
    assert edit.status_code == 403 and "may not change transaction/" in edit.json()["message"]
    assert ci.ask("PUT", own).status_code == ci.ask("DELETE", own).status_code == 403
    assert team.ask("DELETE", own).status_code == sidecar.ask("DELETE", others).status_code == 204


def test_a_reader_and_one_without_a_role(sidecar: Quick) -> None:
    reader, nobody = Caller(sidecar, "reader"), Caller(sidecar, "nobody")
    assert reader.ask("GET", "backends").status_code == 200
    assert reader.put_server("shop_a", "one", weight=1).status_code == 403
    runtime = f"{SERVICES}/runtime/backends/shop_a/servers/one"
    assert reader.ask("PUT", runtime, {"admin_state": "drain"}).status_code == 403
    assert "has no role" in nobody.ask("GET", "backends").json()["message"]
    for other in (f".if 0\n{sidecar.text()}\n.endif\n", sidecar.text().replace("    server one", "    .if 0\n    server one", 1)):
        assert reader.ask("POST", "raw", other, version=sidecar.version()).status_code == 403
    for query in ({"force_reload": True}, {}):
        transaction = reader.ask("POST", f"{SERVICES}/transactions", version=sidecar.version())
        assert transaction.status_code == 201, transaction.text
        assert reader.ask("PUT", f"{SERVICES}/transactions/{transaction.json()['id']}", **query).status_code == 403
    assert reader.ask("POST", "raw", sidecar.text(), version=sidecar.version(), force_reload=True).status_code == 403
    assert nobody.ask("GET", "backends").status_code == nobody.ask("POST", "raw", sidecar.text(), version=1).status_code == 403
    assert sidecar.get("backends").status_code == 200


def test_an_operator(sidecar: Quick) -> None:
    """An operator may change states, weights and entries of maps, but no other part of the configuration, and may not reload."""
    helper = Caller(sidecar, "helper")
    server = f"{SERVICES}/runtime/backends/shop_a/servers/one"
    assert helper.ask("PUT", server, {"admin_state": "drain"}).status_code == 200
    entries = f"{SERVICES}/runtime/maps/hosts.map/entries"
    for sync in (False, True):
        assert helper.ask("POST", entries, {"key": "/b", "value": "two"}, force_sync=sync).status_code == 201
        assert helper.ask("PUT", f"{entries}/%2Fb", {"value": "three"}, force_sync=sync).status_code == 200
        assert helper.ask("DELETE", f"{entries}/%2Fb", force_sync=sync).status_code == 204
    assert helper.ask("DELETE", f"{SERVICES}/runtime/maps/hosts.map").status_code == 403
    assert helper.ask("PUT", f"{SERVICES}/runtime/maps/hosts.map", [{"key": "/c", "value": "d"}]).status_code == 403
    drain = {"targets": ["backend/shop_a/server/two"], "then": "maint", "timeout": "20s"}
    assert helper.ask("POST", "/v3/sidecar/drains", drain | {"then": "delete"}).status_code == 403
    operation = helper.ask("POST", "/v3/sidecar/drains", drain)
    assert operation.status_code == 202, operation.text
    ended = helper.ask("GET", operation.headers["Location"], wait="20s").json()
    assert ended["status"] == "succeeded", ended
    assert helper.put_server("shop_a", "one", port=9).status_code == 403
    assert helper.ask("POST", "/v3/sidecar/reloads", {}).status_code == 403


def test_secrets_are_masked(sidecar: Quick) -> None:
    reader = Caller(sidecar, "reader")
    assert "secret-1" in sidecar.text()
    for path in ("raw", "users?userlist=people", "users/ann?userlist=people", "userlists?full_section=true"):
        shown = reader.request("GET", path if path.startswith("/") else f"{SERVICES}/configuration/{path}").text
        assert "secret-1" not in shown and "<masked>" in shown, (path, shown)
    raw = reader.ask("GET", "raw")
    assert "configuration-checksum" not in {name.lower() for name in raw.headers} and int(raw.headers["content-length"]) == len(raw.content)
    team = Caller(sidecar, "team")
    assert team.ask("GET", "raw").status_code == 403 and [each["name"] for each in team.ask("GET", "backends").json()] == ["shop_a"]


def test_what_is_masked_is_not_taken_back(sidecar: Quick) -> None:
    """A caller that may change everything but see no secrets can change single members by PATCH."""
    editor, version, before = Caller(sidecar, "editor"), sidecar.version, sidecar.text()
    refused = editor.ask("POST", "raw", editor.ask("GET", "raw").text.replace("weight 10", "weight 11"), version=version())
    assert refused.status_code == 422 and "has <masked>" in refused.json()["message"], refused.text
    user = editor.ask("GET", "users/ann", userlist="people").json()
    assert user["password"] == "<masked>"
    refused = editor.ask("PUT", "users/ann", user | {"groups": "g1"}, userlist="people", version=version())
    assert refused.status_code == 422 and refused.json()["message"].startswith("password has <masked>"), refused.text
    assert editor.ask("POST", "users", user | {"username": "eve"}, userlist="people", version=version()).status_code == 422
    assert sidecar.text() == before
    path = f"{SERVICES}/configuration/users/ann?userlist=people"
    changed = editor.request("PATCH", path, json={"groups": "g1"}, headers={"Content-Type": "application/merge-patch+json"})
    assert changed.status_code in (200, 202) and "secret-1" not in changed.text, changed.text
    assert "user ann insecure-password secret-1 groups g1" in sidecar.text()
    wrong = editor.request("PATCH", path, json={"groups": "g2"}, headers={"Content-Type": "application/merge-patch+json"})
    assert wrong.status_code == 400 and "no such group" in wrong.text and "secret-1" not in wrong.text, wrong.text


def test_who_asks(sidecar: Quick) -> None:
    shown = Caller(sidecar, "ci").ask("GET", "/v3/sidecar/whoami").json()
    assert (shown["name"], shown["roles"], shown["limited"]) == ("ci", ["weights"], True)
    assert shown["rules"][1] == {"objects": "backend/shop_*/server/*", "fields": ["weight"], "may": ["read", "change"], "reload": "never"}
    assert Caller(sidecar, "nobody").ask("GET", "/v3/sidecar/whoami").json()["rules"] == []


def test_a_role_that_is_taken_away(sidecar: Quick) -> None:
    reader = Caller(sidecar, "reader")
    path = f"{SERVICES}/configuration/backends"
    assert {reader.ask("GET", path).status_code for _ in range(3)} == {200}
    text = sidecar.file.read_text()
    sidecar.file.write_text(text.replace("role: viewer", "role: weights"))
    sidecar.process.send_signal(signal.SIGHUP)
    until(lambda: reader.ask("GET", "/v3/sidecar/whoami").json()["roles"] == ["weights"])
    sidecar.file.write_text(text.replace("role: admin", "role: viewer"))
    sidecar.process.send_signal(signal.SIGHUP)
    until(lambda: "nobody has the role admin" in sidecar.log.read_text())
    assert reader.ask("GET", "/v3/sidecar/whoami").json()["roles"] == ["weights"]
    assert sidecar.get("/v3/sidecar/whoami").json()["roles"] == ["admin"]


def test_service_discovery_acts_for_its_creator(sidecar: Quick) -> None:
    """Service discovery stops when its creator loses the role, and continues when the creator has it again."""
    text = sidecar.file.read_text()
    helped = text.replace("role: operator", "role: admin")
    sidecar.file.write_text(helped)
    sidecar.process.send_signal(signal.SIGHUP)
    helper = Caller(sidecar, "helper")
    until(lambda: helper.ask("GET", "/v3/sidecar/whoami").json()["roles"] == ["admin"])
    source = {"address": "127.0.0.1", "port": free_port(), "enabled": True, "retry_timeout": 1}
    made = helper.ask("POST", "/v3/service_discovery/consul", source)
    assert made.status_code == 201, made.text
    path = f"/v3/service_discovery/consul/{made.json()['id']}"

    def is_stopped() -> bool:
        status = sidecar.get(path).json().get("status", {})
        return status.get("state") == "stopped" and "helper, who started this, no longer has a role" in status["last_error"]

    for settings, stops in ((text.replace("role: operator", "role: []"), True), (helped, False)):
        sidecar.file.write_text(settings)
        sidecar.process.send_signal(signal.SIGHUP)
        until(lambda stops=stops: is_stopped() == stops)
    assert "has stopped: helper" in sidecar.log.read_text()


def test_may_i(sidecar: Quick) -> None:
    """The check of a call has the status and message of the real call, and changes nothing."""
    weight = ("PUT", "/v3/services/haproxy/configuration/backends/shop_a/servers/one", {"name": "one", "address": "127.0.0.1", "port": 1})
    runtime = ("PUT", f"{SERVICES}/runtime/backends/shop_a/servers/one", {"admin_state": "drain"})
    maps = ("POST", f"{SERVICES}/runtime/maps/hosts.map/entries?force_sync=true", {"key": "/b", "value": "two"})
    drain = ("POST", "/v3/sidecar/drains", {"targets": ["backend/shop_a/server/two"]})
    split = ("PUT", "/v3/sidecar/splits/half?frontend=site", {"by": "random", "weights": {"shop_a": 50, "other": 50}})

    def state() -> list[object]:
        servers = sidecar.get(f"{SERVICES}/runtime/backends/shop_a/servers").json()
        process = [{name: each[name] for name in ("admin_state", "weight", "address", "port")} for each in servers]
        process.append(sidecar.get(f"{SERVICES}/runtime/maps/hosts.map/entries").json())
        files = {str(path): path.read_bytes() for path in (sidecar.directory / "maps_dir").iterdir()}
        return [sidecar.text(), *process, files, sidecar.get("/v3/sidecar/operations").json()]

    def check(caller: str, call: tuple[str, str, object], **more: object) -> dict[str, Any]:
        method, path, body = call
        question = {"method": method, "path": path, "body": body, **more}
        return Caller(sidecar, caller).request("POST", "/v3/sidecar/access/check", json=question).json()

    before = state()
    live = (weight[0], f"{weight[1]}?version=1", weight[2] | {"weight": 11})
    assert check("ci", live) == {"allowed": True, "reload": False}
    refused = check("ci", (live[0], live[1], live[2] | {"port": 7}))
    assert refused["code"] == 403 and "may not change port of backend/shop_a/server/one" in refused["reason"]
    for call in (runtime, maps, drain):
        assert check("helper", call) in ({"allowed": True}, {"allowed": True, "reload": False}), call
        assert check("reader", call)["code"] == 403
    assert check("helper", (runtime[0], runtime[1].replace("one", "none"), runtime[2])) == {"allowed": True}
    text = {"method": "POST", "path": f"{SERVICES}/configuration/raw?version=1", "body": sidecar.text().replace("mode http", "mode tcp", 1)}
    asked = Caller(sidecar, "ci").request("POST", "/v3/sidecar/access/check", json=text).json()
    assert asked["code"] == 403, asked
    assert state() == before
    for call in (live, drain):
        real = Caller(sidecar, "reader").request(call[0], call[1], json=call[2])
        assert check("reader", call) == {"allowed": False, "code": real.status_code, "reason": real.json()["message"]}
    assert check("team", split)["code"] == 403
