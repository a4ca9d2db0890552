"""Tests of routing over HTTP: kept, run, in the history."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import fromstring

import pytest

from tests.app.client import Client, settings
from tests.app.handlers.sidecar.test_history import entered

TESTS, RUNS = "/v3/sidecar/tests", "/v3/sidecar/test_runs"
TEXT = """\
defaults base
    mode http
    timeout client 5s
    timeout server 5s
    timeout connect 5s

frontend site from base
    bind :80
    acl api path_beg /api
    http-request deny if api
    http-request redirect location /new if { path /old }
    default_backend shop

backend shop from base
    http-request set-header X-Seen %[src]
    http-response del-header X-Inner
    server one 10.0.0.1:80
"""
CART = {"name": "the cart", "request": {"url": "http://a/cart"}, "expect": {"backend": "shop", "server": "one", "status": 200}}
API = {"request": {"url": "http://a/api"}, "expect": {"status": 403, "answered_by": "http-request deny if api"}}
WRONG = {"request": {"url": "http://a/api/x"}, "expect": {"backend": "shop", "status": 200}}


@pytest.fixture
def client(tmp_path: Path, haproxy_binary: str) -> Iterator[Client]:
    with Client(replace(settings(tmp_path), haproxy_bin=haproxy_binary, validate_cmd=""), TEXT) as client, entered(client):
        yield client


def case(url: str, **expect: Any) -> dict[str, Any]:
    return {"request": {"url": url}, "expect": expect}


def test_a_test_is_kept(client: Client) -> None:
    assert client.get(TESTS).json == []
    assert client.get(f"{TESTS}/shop").status == 404
    answer = client.put(f"{TESTS}/shop", {"cases": [CART]})
    assert (answer.status, answer.json) == (201, {"name": "shop", "cases": [CART]})
    assert client.put(f"{TESTS}/shop", {"name": "shop", "description": "of the shop", "cases": [CART, API]}).status == 200
    shown = {"name": "shop", "description": "of the shop", "cases": [CART, API]}
    assert client.get(f"{TESTS}/shop").json == shown and client.get(TESTS).json == [shown]
    assert client.delete(f"{TESTS}/shop").status == 204
    assert client.delete(f"{TESTS}/shop").status == 404 and client.get(TESTS).json == []


def test_yaml(client: Client) -> None:
    text = b"cases:\n- request: {url: http://a/cart, headers: {X-N: 1}}\n  expect: {backend: shop}\n"
    answer = client.put(f"{TESTS}/shop", text, headers={"Content-Type": "application/yaml"})
    assert (answer.status, answer.json["cases"][0]["request"]["headers"]) == (201, {"X-N": 1})
    wrong = client.put(f"{TESTS}/shop", b"cases: [", headers={"Content-Type": "application/yaml"})
    assert (wrong.status, "line 1" in wrong.message) == (400, True)


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"cases": [CART | {"expects": {}}]}, 422, 'cases.0.expects in body is not known; did you mean "expect"?'),
        ({"cases": [case("http://a/", bakcend="shop")]}, 422, 'did you mean "backend"?'),
        ({"cases": [CART, case("ftp://a/", status=200)]}, 400, "cases.1.request (GET ftp://a/): url in body begins with ftp:"),
        ({"cases": [{"request": {"url": "/", "config": "x"}, "expect": {"status": 200}}]}, 400, "request.config in body: send config with"),
        ({"cases": []}, 422, "cases in body"),
        ({"cases": [case("http://a/", status=200)] * 20_001}, 400, "cases in body has 20001 items; send 20000 at most"),
        ({"cases": [case("http://a/")]}, 400, "cases.0.expect in body is empty"),
        ({"name": "other", "cases": [CART]}, 400, "name in body is 'other'"),
        ({"cases": [{"expect": {"status": 200}}]}, 422, "cases.0.request in body is required"),
    ],
)
def test_refusals(client: Client, body: Any, status: int, said: str) -> None:
    answer = client.put(f"{TESTS}/shop", body)
    assert (answer.status, said in answer.message) == (status, True), answer.message
    assert client.get(TESTS).json == []


def test_a_run(client: Client) -> None:
    client.put(f"{TESTS}/a", {"cases": [CART, API]})
    client.put(f"{TESTS}/b", {"cases": [WRONG, case("http://a/", frontend="site") | {"request": {"url": "/", "frontend": "none"}}]})
    answer = client.post(RUNS)
    assert answer.status == 200, answer.body
    found = answer.json
    assert (found["passed"], found["failed"]) == (2, 2)
    assert [(each["test"], each["name"], each["passed"]) for each in found["cases"]] == [
        ("a", "the cart", True),
        ("a", "GET http://a/api", True),
        ("b", "GET http://a/api/x", False),
        ("b", "GET /", False),
    ]
    wrong, unknown = found["cases"][2:]
    assert wrong["reason"] == "backend is none, not shop; status is 403, not 200"
    assert wrong["got"] == {"backend": None, "status": 403} and wrong["expect"] == WRONG["expect"]
    assert [each["line"] for each in wrong["rules"]] == [10]
    assert unknown["reason"].startswith("the request cannot be sent: no listener accepts this request")
    coverage = found["coverage"]
    assert (coverage["rules"], coverage["reached"], coverage["share"]) == (4, 3, 0.75)
    text = "http-request redirect location /new if { path /old }"
    assert coverage["unreached"] == [{"line": 11, "text": text, "section": "frontend site from base"}]
    assert client.post(RUNS, {"tests": ["a"]}).json["failed"] == 0
    assert client.post(RUNS, {"tests": ["none"]}).status == 404


def test_what_can_be_expected(client: Client) -> None:
    cases = [
        case("http://a/old", status=302, location="/new", closed=False),
        case("http://a/", frontend="site", bind=":80", request_headers={"X-Seen": "192.0.2.1", "X-Other": None}),
        {
            "request": {"url": "http://a/", "response": {"headers": {"X-Inner": "1", "X-N": ["1", "2"]}}},
            "expect": {"response_headers": {"x-inner": None, "X-N": [1, 2]}},
        },
    ]
    found = client.post(RUNS, {"cases": cases}).json
    assert [each.get("reason") for each in found["cases"]] == [None] * 3
    wrong = [case("http://a/", request_headers={"X-Seen": None, "Host": "b"}, closed=True, location="/x")]
    (found,) = client.post(RUNS, {"cases": wrong}).json["cases"]
    assert found["reason"] == (
        "location is none, not /x; closed is False, not True; "
        "request_headers X-Seen is 192.0.2.1, not none; request_headers Host is a, not b"
    )


def test_of_a_transaction_and_of_a_text(client: Client) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    rules = "/v3/services/haproxy/configuration/frontends/site/http_request_rules/0"
    assert client("DELETE", f"{rules}?transaction_id={id_}").status == 202
    assert client.post(f"{RUNS}?transaction_id={id_}", {"cases": [WRONG]}).json["failed"] == 0
    assert client.post(RUNS, {"cases": [WRONG]}).json["failed"] == 1
    assert client.post(RUNS, {"cases": [WRONG], "config": TEXT.replace("deny if api", "deny if !api")}).json["failed"] == 0
    refused = client.post(RUNS, {"cases": [WRONG], "config": TEXT.replace("deny if api", "deny if nothing")})
    assert (refused.status, "nothing" in refused.message) == (400, True), refused.message
    assert client.post(f"{RUNS}?transaction_id={id_}", {"cases": [WRONG], "config": TEXT}).status == 400


@pytest.mark.parametrize(("query", "headers"), [("?format=junit", {}), ("", {"Accept": "application/xml"})])
def test_junit(client: Client, query: str, headers: dict[str, str]) -> None:
    answer = client.post(f"{RUNS}{query}", {"cases": [CART, WRONG]}, headers=headers)
    assert (answer.status, answer.headers["Content-Type"]) == (200, "application/xml"), answer.headers
    root = fromstring(answer.body)
    assert (root.get("tests"), root.get("failures")) == ("2", "1")
    (failure,) = root.iter("failure")
    assert failure.get("message") == "backend is none, not shop; status is 403, not 200"
    assert "line 10: http-request deny if api" in (failure.text or "")


def test_the_history_has_it_and_takes_it_back(client: Client) -> None:
    client.put(f"{TESTS}/shop", {"cases": [CART]})
    client.put(f"{TESTS}/shop", {"cases": [API]}, headers={"X-Change-Message": "why"})
    entries = client.get("/v3/sidecar/history?object=test/shop").json
    assert [each.get("message") for each in entries] == ["why", None] and entries[0]["objects"] == ["test/shop"]
    assert client.post(f"/v3/sidecar/history/{entries[0]['id']}/revert").status == 200
    assert client.get(f"{TESTS}/shop").json["cases"] == [CART]
    assert client.post(f"/v3/sidecar/history/{entries[0]['id']}/restore").status == 200
    assert client.get(f"{TESTS}/shop").json["cases"] == [API]


def test_names_that_lead_elsewhere(client: Client) -> None:
    for name in ("a%2Fb", "..%2Fx", "a b", "x" * 65):
        assert client.put(f"{TESTS}/{name}", {"cases": [CART]}).status in (400, 404, 422), name
    for name in ("..", ".a", "-", "a.json", "b"):
        client.put(f"{TESTS}/{name}", {"cases": [CART]})
    kept = client.engine.database.read(lambda state: state.execute("SELECT name FROM test").fetchall())
    assert sorted(name for (name,) in kept) == sorted(each["name"] for each in client.get(TESTS).json)


def test_a_change_that_was_cut_off_before_its_entry_is_entered_at_the_next_start(tmp_path: Path) -> None:
    with Client(settings(tmp_path)) as client, entered(client):
        client.put(f"{TESTS}/shop", {"cases": [CART]})
        client.engine.database.read(lambda state: state.execute("UPDATE test SET data = ?", (b'{"cases": []}',)))
    with Client(settings(tmp_path)) as client, entered(client):
        client.post("/v3/services/haproxy/configuration/backends?version=1", {"name": "more"})
        authors = [(entry["author"], entry["objects"]) for entry in client.get("/v3/sidecar/history").json]
    assert authors[1:] == [("outside", ["test/shop"]), ("admin", ["test/shop"])]
