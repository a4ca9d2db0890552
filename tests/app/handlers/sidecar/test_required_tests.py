"""Changes that break tests of routing, by every way in which a change comes."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.app.client import Client, Got, settings
from tests.app.handlers.sidecar.test_history import entered

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
ALLOW = {"type": "allow"}


@pytest.fixture
def client(tmp_path: Path, haproxy_binary: str) -> Iterator[Client]:
    given = replace(settings(tmp_path), haproxy_bin=haproxy_binary, validate_cmd="")
    (tmp_path / "maps").mkdir()
    (tmp_path / "maps/paths.map").write_text("/other other\n")
    with Client(given, TEXT.format(maps=tmp_path / "maps")) as client, entered(client):
        assert client.put("/v3/sidecar/tests/site", {"cases": CASES}).status == 201
        yield client


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
    monkeypatch.setattr(client.app.services.tests, "run", lambda *given: asked.append(given))
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
    assert version(client) == 1
    assert client.post(f"{RULES}/0?version=1", ALLOW).status == 202
    assert client("DELETE", f"{RULES}/0?version=2").status == 202
    entry = client.get("/v3/sidecar/history").json[0]["id"]
    breaks(client.post(f"/v3/sidecar/history/{entry}/revert?tests=require"), "api")
    assert version(client) == 3


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


def test_no_shadow_to_be_had(client: Client) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("haproxy_native.shadow.process.START_SECONDS", 0)
        answer = client.post(f"{RULES}/1?version=1&tests=require", ALLOW)
    assert answer.status == 503 and "tests of routing are required, and cannot be run" in answer.message
    assert version(client) == 1


def test_the_setting(tmp_path: Path, haproxy_binary: str) -> None:
    given = replace(settings(tmp_path), haproxy_bin=haproxy_binary, validate_cmd="", tests="require")
    with Client(given, TEXT.format(maps=tmp_path)) as client, entered(client):
        client.file.with_name("paths.map").write_text("")
        client.put("/v3/sidecar/tests/site", {"cases": CASES})
        breaks(client.post(f"{RULES}/0?version=1", ALLOW), "api")
