"""Changes that break tests of routing, by every way in which a change comes."""

import asyncio
import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.features.routing_tests.feature import RoutingTestsFeature
from tests.app.client import Client, Got, exchange, settings
from tests.app.handlers.sidecar.test_history import entered
from tests.tls.pems import made

CONFIGURATION = "/v3/services/haproxy/configuration"
RULES = f"{CONFIGURATION}/frontends/site/http_request_rules"
MAPS = "/v3/services/haproxy/storage/maps"
TEXT = """\
defaults base
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s

frontend site from base
    bind :80
    http-request deny if {{ path_beg /api }}
    use_backend %[path,map({maps}/paths.map,shop)]

backend shop from base
    server one 10.0.0.1:80

backend other from base
    server one 10.0.0.1:80
"""
CASES = [
    {"name": "api", "request": {"url": "http://a/api"}, "expect": {"status": 403}},
    {"name": "cart", "request": {"url": "http://a/cart"}, "expect": {"backend": "shop"}},
]
RENAMED = {"object": "backend/shop", "to": "shop2"}
ALLOW = {"type": "allow"}


@pytest.fixture
def client(tmp_path: Path, haproxy_binary: str) -> Iterator[Client]:
    given = replace(settings(tmp_path), haproxy_bin=haproxy_binary, validate_cmd="")
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps/paths.map").write_text("/other other\n")
    with Client(given, TEXT.format(maps=tmp_path / "maps")) as client, entered(client):
        assert client.put("/v3/sidecar/tests/site", {"cases": CASES}).status == 201
        yield client


def never_starts(patch: pytest.MonkeyPatch) -> None:
    """No HAProxy is taken for started, however fast it is."""
    patch.setattr("haproxy_native.shadow.process.START_SECONDS", 0)
    patch.setattr("haproxy_native.shadow.process.CLI", "never.sock")


def version(client: Client) -> int:
    return int(client.get(f"{CONFIGURATION}/version").json)


def breaks(answer: Got, *names: str) -> None:
    assert answer.status == 400, answer.body
    assert [each["name"] for each in answer.json["failed_tests"]] == list(names)


def test_a_single_write(client: Client) -> None:
    before = client.file.read_bytes()
    answer = client.post(f"{RULES}/0?version=1&tests=require", ALLOW)
    breaks(answer, "api")
    assert answer.message.splitlines() == [
        "this breaks 1 test of routing, and nothing was changed",
        "site, api: status is 200, not 403",
    ]
    (failed,) = answer.json["failed_tests"]
    assert (failed["request"], failed["expect"], failed["got"]) == ({"url": "http://a/api"}, {"status": 403}, {"status": 200})
    assert next(rule["text"] for rule in failed["rules"]) == "http-request allow"
    assert client.file.read_bytes() == before and version(client) == 1
    assert client.post(f"{RULES}/1?version=1&tests=require", ALLOW).status == 202
    assert client.post(f"{RULES}/0?version=2", ALLOW).status == 202


def test_what_routes_as_before_is_not_tested(client: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[Any] = []
    monkeypatch.setattr(RoutingTestsFeature.of(client.app.services).tests, "run", lambda *given: asked.append(given))
    answer = client.put(
        f"{CONFIGURATION}/backends/shop/servers/one?version=1&tests=require", {"name": "one", "address": "10.0.0.2", "port": 1}
    )
    assert answer.status in (200, 202) and asked == []


def test_a_test_that_failed_before(client: Client) -> None:
    client.put("/v3/sidecar/tests/former", {"cases": [{"name": "ä", "request": {"url": "http://a/"}, "expect": {"status": 500}}]})
    answer = client.post(f"{RULES}/1?version=1&tests=require", ALLOW)
    assert (answer.status, answer.headers.get("Failing-Tests")) == (202, "former, %C3%A4"), answer.body
    answer = client.post(f"{RULES}/0?version=2&tests=require", ALLOW)
    breaks(answer, "api")
    assert answer.json["failed_before"] == ["former, ä"]


def test_every_way(client: Client) -> None:
    text = client.file.read_text()
    wrong = text.replace("deny if { path_beg /api }", "deny if { path_beg /nothing }")
    raw = {"Content-Type": "text/plain"}
    breaks(client.post(f"{CONFIGURATION}/raw?skip_version=true&tests=require", wrong.encode(), headers=raw), "api")
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    assert client.post(f"{RULES}/0?transaction_id={id_}", ALLOW).status == 202
    assert client.post(f"{RULES}/0?transaction_id={id_}&tests=require", ALLOW).status == 400
    breaks(client.put(f"/v3/services/haproxy/transactions/{id_}?tests=require"), "api")
    steps = [{"method": "POST", "path": f"{RULES}/0", "body": ALLOW}]
    breaks(client.post("/v3/sidecar/batch?tests=require", steps), "api")
    section = {"name": "site", "http_request_rule_list": [ALLOW]}
    breaks(client.put("/v3/sidecar/apply?owner=a&force=true&tests=require", {"frontends": [section]}), "api")
    token = client.put("/v3/sidecar/apply?owner=a&force=true&dry_run=true", {"frontends": [section]}).json["plan_token"]
    breaks(client.put(f"/v3/sidecar/apply?plan={token}&tests=require"), "api")
    declared = {"maps": [{"name": "paths.map", "entries": [{"key": "/cart", "value": "other"}]}]}
    breaks(client.put("/v3/sidecar/apply?owner=a&force=true&tests=require", declared), "cart")
    breaks(client.post("/v3/sidecar/rename?tests=require", RENAMED), "cart")
    assert version(client) == 1
    assert client.post(f"{RULES}/0?version=1", ALLOW).status == 202
    assert client("DELETE", f"{RULES}/0?version=2").status == 202
    entry = client.get("/v3/sidecar/history").json[0]["id"]
    breaks(client.post(f"/v3/sidecar/history/{entry}/revert?tests=require"), "api")
    assert version(client) == 3


def test_what_a_plan_says(client: Client) -> None:
    raw, text = {"Content-Type": "text/plain"}, client.file.read_text()
    wrong = text.replace("deny if { path_beg /api }", "deny if { path_beg /nothing }").encode()
    assert "tests" not in client.post("/v3/sidecar/plan", wrong, headers=raw).json
    client.put("/v3/sidecar/tests/former", {"cases": [{"name": "old", "request": {"url": "http://a/"}, "expect": {"status": 500}}]})

    def foretold(answer: Got, *names: str) -> None:
        assert answer.status == 200, answer.body
        found = answer.json["tests"]
        assert ([each["name"] for each in found["failed_tests"]], found["failed_before"]) == ([*names], ["former, old"])

    foretold(client.post("/v3/sidecar/plan?tests=require", wrong, headers=raw), "api")
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    client.post(f"{RULES}/0?transaction_id={id_}", ALLOW)
    client.put(f"{MAPS}/paths.map?transaction_id={id_}", b"/cart other\n", headers=raw)
    foretold(client.post(f"/v3/sidecar/plan?transaction_id={id_}&tests=require"), "api", "cart")
    foretold(client.post("/v3/sidecar/plan/maps/paths.map?tests=require", b"/cart other\n", headers=raw), "cart")
    steps = [{"method": "POST", "path": f"{RULES}/0", "body": ALLOW}]
    foretold(client.post("/v3/sidecar/batch?dry_run=true&tests=require", steps), "api")
    section = {"name": "site", "http_request_rule_list": [ALLOW]}
    foretold(client.put("/v3/sidecar/apply?owner=a&force=true&dry_run=true&tests=require", {"frontends": [section]}), "api")
    foretold(client.post("/v3/sidecar/rename?dry_run=true&tests=require", RENAMED), "cart")
    with pytest.MonkeyPatch.context() as patch:
        never_starts(patch)
        found = client.post("/v3/sidecar/plan?tests=require", text.replace("/api", "/none").encode(), headers=raw).json["tests"]
    assert "cannot be run" in found["untested"] and found["failed_tests"] == []
    assert version(client) == 1 and client.file.read_text() == text


def test_others_go_on_meanwhile(client: Client) -> None:
    """A change comes first while tests are run. It routes nothing otherwise, so that they are run once."""
    many = [CASES[1] | {"name": str(number)} for number in range(300)]
    client.put("/v3/sidecar/tests/site", {"cases": [CASES[0], *many]})
    runs, tests = list[int](), RoutingTestsFeature.of(client.app.services).tests
    run, ended = tests.run, list[str]()

    async def counted(*given: Any) -> Any:
        runs.append(1)
        return await run(*given)

    async def call(method: str, path: str, body: Any) -> None:
        headers = [(b"authorization", b"Basic YWRtaW46YWRtaW5wd2Q="), (b"content-type", b"application/json")]
        answer = await exchange(client.app, method, path, headers, json.dumps(body).encode())
        assert answer.status in (200, 202), answer.body
        ended.append(path)

    async def both() -> None:
        steps = [{"method": "POST", "path": f"{RULES}/1", "body": ALLOW}]
        gated = asyncio.create_task(call("POST", "/v3/sidecar/batch?tests=require", steps))
        while not runs:
            await asyncio.sleep(0.01)
        for number in (1, 2):
            server = {"name": "one", "address": "10.0.0.1", "port": 80 + number}
            await call("PUT", f"{CONFIGURATION}/backends/shop/servers/one?version={number}", server)
        await gated

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(tests, "run", counted)
        client.runner.run(both())
    assert ended[-1].startswith("/v3/sidecar/batch") and runs == [1] and version(client) == 4
    assert "10.0.0.1:82" in client.file.read_text() and "http-request allow" in client.file.read_text()


def test_the_way_back_is_free(client: Client) -> None:
    new = {"cases": [{"request": {"url": "http://a/new"}, "expect": {"status": 403}}]}
    client.put("/v3/sidecar/tests/new", new)
    rule = {"type": "deny", "cond": "if", "cond_test": "{ path /new }"}
    answer = client.post(f"{RULES}/0?version=1&confirm=1h&tests=require", rule)
    assert answer.status == 201, answer.body
    object.__setattr__(client.app.services.settings, "tests", "require")
    assert client.delete(answer.headers["Location"]).json["status"] == "returned"
    assert "/new" not in client.file.read_text()


def test_a_moment_with_its_tests(client: Client) -> None:
    """Tests of that moment count, and later ones do not."""
    moment = client.get("/v3/sidecar/history").json[0]["id"]
    client.post(f"{RULES}/0?version=1", {"type": "deny", "cond": "if", "cond_test": "{ path /new }"})
    client.put("/v3/sidecar/tests/new", {"cases": [{"request": {"url": "http://a/new"}, "expect": {"status": 403}}]})
    assert client.post(f"/v3/sidecar/history/{moment}/restore?tests=require").status in (200, 202)
    assert [each["name"] for each in client.get("/v3/sidecar/tests").json] == ["site"] and "/new" not in client.file.read_text()


def test_stored_maps(client: Client) -> None:
    path, raw = Path(client.settings.maps_dir) / "paths.map", {"Content-Type": "text/plain"}
    breaks(client.put(f"{MAPS}/paths.map?tests=require", b"/cart other\n", headers=raw), "cart")
    assert path.read_text() == "/other other\n" and not [each for each in path.parent.iterdir() if each != path]
    assert client.put(f"{MAPS}/paths.map?tests=require", b"/new other\n", headers=raw).status in (200, 202)
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    assert client.put(f"{MAPS}/paths.map?transaction_id={id_}", b"/cart other\n", headers=raw).status == 200
    assert client.post(f"/v3/sidecar/test_runs?transaction_id={id_}").json["failed"] == 1
    assert client.post(f"/v3/sidecar/explain?transaction_id={id_}", {"url": "http://a/cart"}).json["backend"] == "other"
    breaks(client.put(f"/v3/services/haproxy/transactions/{id_}?tests=require"), "cart")
    assert path.read_text() == "/new other\n"


def test_certificates(tmp_path: Path, haproxy_binary: str) -> None:
    """By a line, and by a list of them that a line names."""
    (tmp_path / "ssl").mkdir()
    for name in ("one", "two"):
        (tmp_path / f"ssl/{name}.pem").write_text(made(f"{name}.example").pem)
    (tmp_path / "ssl/sites.txt").write_text(f"{tmp_path}/ssl/two.pem\n")
    listeners = f"bind :443 ssl crt {tmp_path}/ssl/one.pem crt-list {tmp_path}/ssl/sites.txt strict-sni"
    text = TEXT.replace("bind :80", listeners).replace("%[path,map({maps}/paths.map,shop)]", "shop").format()
    given = replace(settings(tmp_path), haproxy_bin=haproxy_binary, validate_cmd="", tests="require")
    with Client(given, text) as client, entered(client):
        cases = [{"name": name, "request": {"url": f"https://{name}.example/"}, "expect": {"backend": "shop"}} for name in ("one", "two")]
        client.put("/v3/sidecar/tests/site", {"cases": cases})
        run = client.post("/v3/sidecar/test_runs")
        assert run.json.get("passed") == 2, run.body
        raw = {"Content-Type": "text/plain"}
        for name in ("one", "two"):
            path = f"/v3/services/haproxy/storage/ssl_certificates/{name}.pem"
            answer = client.put(path, made("other.example").pem.encode(), headers=raw)
            breaks(answer, name)
            assert client.put(path, made(f"{name}.example", 7).pem.encode(), headers=raw).status in (200, 202)


def test_a_set(client: Client) -> None:
    """A text and a map that it needs, in one form; each passes with the other alone."""
    text = client.file.read_text().replace(",shop)]", ",other)]").encode()
    raw = {"Content-Type": "text/plain"}
    breaks(client.post(f"{CONFIGURATION}/raw?skip_version=true&tests=require", text, headers=raw), "cart")
    parts = [("configuration", "haproxy.cfg", text), ("maps", "paths.map", b"/cart shop\n")]
    body = b"".join(
        f'--x\r\nContent-Disposition: form-data; name="{part}"; filename="{name}"\r\n\r\n'.encode() + content + b"\r\n"
        for part, name, content in parts
    )
    form = {"Content-Type": "multipart/form-data; boundary=x"}
    planned = client.post("/v3/sidecar/plan?tests=require", body + b"--x--\r\n", headers=form).json
    assert planned["tests"] == {"failed_tests": [], "failed_before": []}


def test_no_shadow_to_be_had(client: Client) -> None:
    with pytest.MonkeyPatch.context() as patch:
        never_starts(patch)
        answer = client.post(f"{RULES}/1?version=1&tests=require", ALLOW)
    assert answer.status == 503 and "the required routing tests cannot be run" in answer.message
    assert version(client) == 1


def test_the_setting(tmp_path: Path, haproxy_binary: str) -> None:
    given = replace(settings(tmp_path), haproxy_bin=haproxy_binary, validate_cmd="", tests="require")
    with Client(given, TEXT.format(maps=tmp_path)) as client, entered(client):
        client.file.with_name("paths.map").write_text("")
        client.put("/v3/sidecar/tests/site", {"cases": CASES})
        breaks(client.post(f"{RULES}/0?version=1", ALLOW), "api")
