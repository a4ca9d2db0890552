"""Call the server as known programs do, with their headers and peculiarities, and assert the parts of answers that they rely on."""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx2
import pytest

from tests.acceptance.personas import JSON, Persona
from tests.acceptance.quick import SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.haproxy.sidecar import CONFIGURATION

CONFIG = """\
global
    stats socket {{stats}} level admin expose-fd listeners

defaults
    mode http
    timeout connect 1s
    timeout client 5s
    timeout server 5s

frontend status
    bind 127.0.0.1:{site}
"""
WEB = {"name": "web", "mode": "http", "balance": {"algorithm": "roundrobin"}}


@pytest.fixture(scope="module")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Persona]:
    """Run a server for calls that change nothing."""
    config, directory, binary = CONFIG.format(site=free_port()), tmp_path_factory.mktemp("shared"), binaries.exactly("3.2")
    with HAProxy(directory, config, binary=binary) as haproxy, Quick(haproxy) as running, Persona(running) as persona:
        yield persona


@pytest.fixture
def sidecar(tmp_path: Path) -> Iterator[Quick]:
    with HAProxy(tmp_path, CONFIG.format(site=free_port()), binary=binaries.exactly("3.2")) as haproxy, Quick(haproxy) as running:
        yield running


@pytest.fixture
def call(sidecar: Quick) -> Iterator[Persona]:
    with Persona(sidecar) as persona:
        yield persona


def test_a_discovery_that_sends_a_json_type_with_everything(sidecar: Quick, call: Persona) -> None:
    """It creates slots for servers, fills them, and disables them again. Calls without a body have a content type as well."""
    call.client.headers.update({**JSON, "Accept": "*/*", "Accept-Encoding": "gzip, deflate"})
    live = {"address": "10.0.0.1", "port": 8080, "maintenance": "disabled", "check": "enabled"}
    parked = {"address": "127.0.0.1", "port": 80, "maintenance": "enabled", "check": "disabled"}
    for turn, slots in enumerate(([live] * 2 + [parked] * 8, [live] * 3 + [parked] * 7, [parked] * 10)):
        within = {"transaction_id": call.begin()}
        if turn:
            call("GET", "backends/cloud", expect=200, **within)
        else:
            call("GET", "backends/cloud", expect=404, **within)
            assert call("POST", "backends", {**WEB, "name": "cloud"}, **within)["name"] == "cloud"
            assert call("GET", "backends/cloud/servers", expect=200, **within) == []
        for number, slot in enumerate(slots):
            server = {"name": f"srv{number}", **slot, "cookie": f"srv{number}"}
            if turn:
                call("PUT", f"backends/cloud/servers/srv{number}", server, expect=(200, 202), **within)
            else:
                call("POST", "backends/cloud/servers", server, expect=(201, 202), **within)
        call.commit(within["transaction_id"])
        shown = call("GET", "backends/cloud/servers", expect=200)
        assert [{name: each[name] for name in parked} for each in shown] == slots
    assert sidecar.text().count(" disabled") == 10
    transaction = call.begin()
    call("DELETE", f"{SERVICES}/transactions/{transaction}", expect=204)


def test_an_orchestrator_that_decodes_every_answer(call: Persona) -> None:
    call.client.headers.update({"Accept": "*/*"})
    setup = call.begin()
    call("POST", "backends", {"name": "be"}, transaction_id=setup)
    call.commit(setup)
    assert call("GET", "backends/be", expect=200, full_section="false")["name"] == "be"
    assert call("GET", "backends/be/servers/s1", expect=404)["code"] == 404
    for method, path, body in (
        ("POST", "backends/be/servers", {"name": "s1", "address": "10.0.0.1", "port": 80, "check": "enabled"}),
        ("PUT", "backends/be/servers/s1", {"name": "s1", "address": "10.0.0.2", "port": 80}),
        ("DELETE", "backends/be/servers/s1", None),
    ):
        transaction = call.begin()
        call(method, path, body, expect=(202, 204), force_reload="false", transaction_id=transaction)
        url = f"{SERVICES}/transactions/{transaction}"
        assert call.client.put(url, params={"force_reload": "false"}, headers=JSON, content=b"").status_code in (200, 202)


def test_an_sdk_that_asks_for_a_transaction_by_post(sidecar: Quick, call: Persona) -> None:
    call.client.headers.update(JSON)
    transaction = call.begin()
    within = {"transaction_id": transaction}
    count = len(call("GET", "backends", expect=200, **within))
    call("POST", "backends", {"name": "be_x", "mode": "http"}, **within)
    assert len(call("GET", "backends", expect=200, **within)) == count + 1
    call("POST", "frontends", {"name": "fe_x", "mode": "http", "default_backend": "be_x"}, **within)
    bind = {"name": "b", "address": "127.0.0.1", "port": free_port(), "v4v6": True}
    assert call("POST", "frontends/fe_x/binds", bind, **within) == bind
    assert call("POST", f"{SERVICES}/transactions/{transaction}", expect=(404, 405))["message"]
    assert sidecar.reloaded(call.commit(transaction))["status"] == "succeeded"
    call("DELETE", f"{SERVICES}/transactions/{transaction}", expect=(204, 404))


def test_an_operator_that_sends_children_within_their_parent(sidecar: Quick, call: Persona) -> None:
    """The server ignores the children. The second pass of the operator finds no difference, and changes nothing."""
    call.client.headers.update({"Accept": "application/json"})
    backend = {"name": "example", "adv_check": "httpchk", "balance": {"algorithm": "leastconn"}, "description": "managed-by=someone"}
    server = {"name": "srv1", "address": "127.0.0.1", "port": 443}
    checks = [{"type": "send", "method": "GET", "uri": "/", "headers": [{"name": "Host", "fmt": "example.com"}]}]
    within = {"transaction_id": call.begin()}
    call("GET", "backends/example", expect=404, **within)
    call("POST", "backends", {**backend, "servers": {"srv1": server}, "http_check_list": [{"type": "send", "uri": "/"}]}, **within)
    assert call("GET", "backends/example/servers", expect=200, **within) == []
    assert call("GET", "backends/example/http_checks", expect=200, **within) == []
    call("PUT", "backends/example/http_checks", checks, **within)
    call("GET", "backends/example/servers/srv1", expect=404, **within)
    call("POST", "backends/example/servers", server, **within)
    sidecar.reloaded(call.commit(within["transaction_id"], force_reload="false"))
    before, within = sidecar.text(), {"transaction_id": call.begin()}
    shown = call("GET", "backends/example", expect=200, version=7, **within)
    assert {name: shown[name] for name in backend} == backend
    assert call("GET", "backends/example/http_checks", expect=200, **within) == checks
    assert call("GET", "backends/example/servers/srv1", expect=200, **within) == server
    call("DELETE", f"{SERVICES}/transactions/{within['transaction_id']}", expect=204)
    assert sidecar.text() == before
    call("PUT", "backends/example/http_checks", [], version=call.version())
    assert call("GET", "backends/example/http_checks", expect=200) == []
    call("DELETE", "backends/example", expect=(200, 202, 204), version=call.version())


def test_a_terraform_provider_that_sends_every_member_as_null(sidecar: Quick, call: Persona) -> None:
    """It sends five calls at once, each with five tries without a pause. A failed try is answered with `version mismatch`."""

    def write(method: str, path: str, body: Any) -> httpx2.Response:
        for _ in range(50):
            answer = call.raw(method, path, body, version=call.version())
            if answer.status_code != 409 or "version mismatch" not in answer.text:
                break
        return answer

    def smoke(name: str) -> None:
        none = dict.fromkeys(("adv_check", "cookie", "default_server", "from", "forwardfor", "servers", "http_check_list", "metadata"))
        balance = {"algorithm": "roundrobin", "hash_expression": None, "uri_depth": None}
        assert write("POST", "backends", {"name": name, "mode": "http", "balance": balance, **none}).status_code in (201, 202)
        frontend = {"name": f"fe_{name}", "mode": "http", "default_backend": name, "binds": None, "acl_list": None, "log_tag": None}
        assert write("POST", "frontends", frontend).status_code in (201, 202)
        bind = {"name": "b", "address": "127.0.0.1", "port": free_port(), "ssl": None, "alpn": None, "metadata": None}
        assert write("POST", f"frontends/fe_{name}/binds", bind).status_code in (201, 202)
        server = {"name": "s1", "address": "127.0.0.1", "port": 19000, "check": None, "weight": None}
        assert write("POST", f"backends/{name}/servers", server).status_code in (201, 202)

    with ThreadPoolExecutor(5) as pool:
        list(pool.map(smoke, [f"be{number}" for number in range(5)]))
    for number in range(5):
        assert call("GET", f"backends/be{number}/servers/s1", expect=200) == {"name": "s1", "address": "127.0.0.1", "port": 19000}
    rules = [{"type": "deny", "cond": "if", "cond_test": "FALSE"}, {"type": "allow"}]
    for wanted in (rules, rules[:1], []):
        assert write("PUT", "frontends/fe_be1/http_request_rules", wanted).is_success
        assert call("GET", "frontends/fe_be1/http_request_rules", expect=200) == wanted
    for path in ("frontends/fe_be0", "backends/be0"):
        assert write("DELETE", path, None).status_code in (202, 204)
        assert write("DELETE", path, None).status_code == 404
    answer = httpx2.get(f"http://127.0.0.1:{sidecar.port}/v3/info", headers={"Authorization": "Bearer x"}, timeout=60, verify=False)
    assert (answer.status_code, answer.json()["code"]) == (401, 401)


def test_a_provider_that_reads_messages(sidecar: Quick, call: Persona) -> None:
    """It decides by status and message whether to try again."""
    call.client.headers.update(JSON)
    first, second = call.begin(), call.begin()
    for transaction, name in ((first, "one"), (second, "two")):
        backend = {"name": name, "server_timeout": 3000, "retries": 3, "forwardfor": {"enabled": "enabled"}}
        call("POST", "backends", backend, transaction_id=transaction)
    acls = [{"acl_name": "is_admin", "criterion": "path", "value": "/admin", "index": 0}]
    call("PUT", "frontends/status/acls", acls, transaction_id=first)
    rules = [{"type": "deny", "cond": "if", "cond_test": "is_admin", "index": 0}]
    call("PUT", "frontends/status/http_request_rules", rules, transaction_id=first)
    call.commit(first)
    late = call("PUT", f"{SERVICES}/transactions/{second}", expect=(406, 409))
    assert "is outdated and cannot be committed" in late["message"] or "version mismatch" in late["message"]
    call("DELETE", f"{SERVICES}/transactions/{second}", expect=(200, 204))
    gone = call("POST", "backends", {"name": "x"}, expect=400, transaction_id=second)
    assert "transaction does not exist" in gone["message"]
    assert "version or transaction not specified" in call("POST", "backends", {"name": "x"}, expect=400)["message"]
    assert "version mismatch" in call("POST", "backends", {"name": "x"}, expect=409, version=99)["message"]


def test_an_ingress_controller(sidecar: Quick, call: Persona) -> None:
    """It detects the version, pushes a text, makes parallel edits in one transaction, and changes servers without a reload."""
    named = call("GET", "/v3/info", expect=200)["api"]["version"]
    assert named.startswith("v3.")
    assert "-ee" not in named
    assert call.version() == 1
    desired = sidecar.text() + "\nbackend old\n    server s 127.0.0.1:1\n"
    answer = call.raw("POST", "raw", desired, version=1)
    assert answer.status_code == 202
    assert sidecar.reloaded(answer)["status"] == "succeeded"
    assert call("GET", "raw", expect=200).endswith(desired)
    assert call.version() == 2
    transaction = call.begin()
    within = {"transaction_id": transaction}
    with ThreadPoolExecutor(20) as pool:
        list(pool.map(lambda name: call("POST", "backends", {**WEB, "name": name}, **within), ["web", "api"]))
        servers = [{"name": f"srv{each}", "address": "192.0.2.1", "port": 8080, "check": "enabled"} for each in range(20)]
        list(pool.map(lambda server: call("POST", "backends/web/servers", server, **within), servers))
    acl = {"acl_name": "is_api", "criterion": "path_beg", "value": "/api"}
    call("POST", "frontends/status/acls/0", acl, **within)
    call("POST", "frontends/status/backend_switching_rules/0", {"name": "api", "cond": "if", "cond_test": "is_api"}, **within)
    answer = call.commit(transaction, force_reload="false")
    assert sidecar.reloaded(answer)["status"] == "succeeded"
    assert sidecar.text().count("server srv") == 20
    worker, version = sidecar.haproxy.worker_pid(), call.version()
    server = {"name": "srv1", "address": "192.0.2.1", "port": 8080, "check": "enabled"}
    for change in ({"weight": 200}, {"address": "192.0.2.9"}, {"port": 8081}, {"maintenance": "enabled"}, {"maintenance": "disabled"}):
        server |= change
        call("PUT", "backends/web/servers/srv1", server, expect=200, version=version)
        version += 1
    assert sidecar.haproxy.worker_pid() == worker
    stale = call.raw("PUT", "backends/web/servers/srv1", server, version=version - 1)
    assert (stale.status_code, stale.headers["Configuration-Version"]) == (409, str(version))


def test_an_ingress_controller_that_names_the_runtime_actions_itself(sidecar: Quick, call: Persona) -> None:
    base = sidecar.text() + "\nbackend web\n    server srv1 127.0.0.1:1 weight 1\n"
    assert call.raw("POST", "raw", base, version=1, force_reload="true").status_code == 201
    worker = sidecar.haproxy.worker_pid()
    call.client.headers["X-Runtime-Actions"] = (
        "SetServerAddr web srv1 127.0.0.9 80;SetServerWeight web srv1 50;SetServerState web srv1 ready"
    )
    new = base.replace("127.0.0.1:1 weight 1", "127.0.0.9:80 weight 50")
    answer = call.raw("POST", "raw", new, version=2, skip_reload="true")
    assert answer.status_code == 201, answer.text
    assert "Reload-Id" not in answer.headers
    assert (shown := sidecar.server("srv1", "web"))
    assert (shown.address, shown.port, shown.uweight) == ("127.0.0.9", 80, 50)
    assert sidecar.haproxy.worker_pid() == worker
    call.client.headers["X-Runtime-Actions"] = "SetServerWeight web nobody 50"
    answer = call.raw("POST", "raw", new, version=3, skip_reload="true")
    assert answer.status_code == 400
    assert answer.json()["message"].startswith("cannot execute")
    del call.client.headers["X-Runtime-Actions"]
    answer = call.raw("POST", "raw", new, skip_version="true", skip_reload="true")
    assert (answer.status_code, "Reload-Id" in answer.headers) == (201, False)
    assert "# _version=1\n" in sidecar.text()
    assert call.version() == 1


def test_a_gitops_operator(sidecar: Quick, call: Persona) -> None:
    """It validates a text first. A refused text is always answered with 400, with the cause in the part of the message that it stores."""
    call.client.headers.update(JSON)
    before, new = sidecar.text(), sidecar.text() + "\nbackend git\n    server s 127.0.0.1:1\n"
    answer = call.raw("POST", "raw", new, only_validate="true", version=1)
    assert answer.is_success
    assert "Reload-Id" not in answer.headers
    assert (sidecar.text(), call.version()) == (before, 1)
    broken = call("POST", "raw", new.replace("server s", "sever s"), expect=400, only_validate="true", version=1)
    assert "sever" in broken["message"][:4096]
    assert sidecar.reloaded(call.raw("POST", "raw", new, version=1))["status"] == "succeeded"
    call("POST", "raw", new, expect=409, version=1)


def test_a_client_of_whole_sections(sidecar: Quick, call: Persona) -> None:
    call.client.headers.update(JSON)
    frontend = {
        "name": "fe",
        "mode": "http",
        "default_backend": "be",
        "binds": {"b1": {"name": "b1", "address": "127.0.0.1", "port": free_port()}},
        "acl_list": [{"acl_name": "a", "criterion": "path_beg", "value": "/a"}],
        "backend_switching_rule_list": [{"name": "be", "cond": "if", "cond_test": "a"}],
    }
    call("POST", "backends", {"name": "be"}, version=1)
    call("PUT", "frontends/fe", frontend, expect=404, version=2, full_section="true")
    sidecar.reloaded(call.raw("POST", "frontends", frontend, version=2, full_section="true"))
    shown = call("GET", "frontends/fe", expect=200, full_section="true")
    assert {name: shown[name] for name in frontend} == frontend
    fewer = {name: value for name, value in frontend.items() if name not in ("acl_list", "backend_switching_rule_list")}
    call("PUT", "frontends/fe", fewer, version=3, full_section="true")
    assert call("GET", "frontends/fe/acls", expect=200) == []


def test_what_scripts_rely_on(sidecar: Quick, call: Persona) -> None:
    """Scripts rely on an empty commit that reloads, two ways to create defaults, comments, canonical header names, a trailing slash."""
    call.client.headers.update(JSON)
    worker = sidecar.haproxy.worker_pid()
    assert sidecar.reloaded(call.commit(call.begin()))["status"] == "succeeded"
    assert sidecar.haproxy.worker_pid() != worker
    transaction = call.begin()
    for method, name in (("PUT", "d1"), ("POST", "d2")):
        call(method, "defaults", {"name": name, "mode": "http"}, transaction_id=transaction)
        call(method, "defaults", {"name": name, "mode": "http"}, expect=409, transaction_id=transaction)
    noted = {"name": "noted", "from": "d1", "metadata": {"comment": {"value": "owned by team a"}}}
    call("POST", "backends", noted, transaction_id=transaction)
    call.commit(transaction)
    assert call("GET", "backends/noted", expect=200)["metadata"] == noted["metadata"]
    assert "owned by team a" in sidecar.text()
    answer = call.raw("GET", "backends/")
    assert (answer.status_code, answer.history) == (200, [])
    names = [name.decode() for name, _ in call.raw("DELETE", "backends/noted", version=call.version()).headers.raw]
    assert {"Configuration-Version", "Reload-Id"} <= set(names)


HELP: list[tuple[str, str, Any, dict[str, str], int, str]] = [
    ("GET", "servers?backend=web", None, {}, 404, "/v3/services/haproxy/configuration/backends/web/servers"),
    ("POST", "servers?backend=web&version=1", {"name": "s"}, {}, 404, "/v3/services/haproxy/configuration/backends/web/servers"),
    ("GET", "binds?frontend=status", None, {}, 404, "/v3/services/haproxy/configuration/frontends/status/binds"),
    ("GET", "acls?parent_type=frontend&parent_name=status", None, {}, 404, "/v3/services/haproxy/configuration/frontends/status/acls"),
    ("GET", "backend", None, {}, 404, "/v3/services/haproxy/configuration/backends"),
    ("GET", "/v2/services/haproxy/configuration/backends", None, {}, 404, "/v3/services/haproxy/configuration/backends"),
    ("GET", "/services/haproxy/configuration/backends", None, {}, 404, "/v3/services/haproxy/configuration/backends"),
    ("POST", "backends", {"name": "x"}, {}, 400, "?version=1"),
    ("POST", "backends?versoin=1", {"name": "x"}, {}, 400, 'did you mean "version"'),
    ("POST", "backends?version=1", "name=x", {"Content-Type": "application/x-www-form-urlencoded"}, 415, "application/json"),
    ("POST", "backends?version=1", '{"name": "x"}', {"Content-Type": "text/plain"}, 415, "application/json"),
    ("POST", "raw?version=1", "global\n", {"Content-Type": "application/json"}, 415, "text/plain"),
    ("GET", "backends", None, {"Accept": "text/html"}, 406, "application/json"),
    ("POST", "backends/web/servers?version=1", {"name": "s", "address": "::1", "health_check": "enabled"}, {}, 422, "check"),
]


@pytest.mark.parametrize(("method", "path", "body", "headers", "status", "says"), HELP, ids=[f"{row[0]} {row[1]} {row[4]}" for row in HELP])
def test_a_wrong_call_gets_help(
    shared: Persona, method: str, path: str, body: Any, headers: dict[str, str], status: int, says: str
) -> None:
    """The message names the right call for a call from an old tutorial."""
    content = {"content": body} if isinstance(body, str) else {"json": body} if body else {}
    url = path if path.startswith("/") else f"{CONFIGURATION}/{path}"
    answer = shared.client.request(method, url, headers=headers, **content)
    assert (answer.status_code, answer.json()["code"]) == (status, status), answer.text
    assert says in answer.json()["message"]
    assert shared.version() == 1
