"""What HAProxy does with a request, over HTTP."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.app.client import Client, settings
from tests.app.handlers.sidecar.test_history import entered

EXPLAIN = "/v3/sidecar/explain"
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
    default_backend shop

backend shop from base
    http-request set-header X-Seen %[src]
    server one 10.0.0.1:80
"""


@pytest.fixture
def client(tmp_path: Path, haproxy_binary: str) -> Iterator[Client]:
    with Client(replace(settings(tmp_path), haproxy_bin=haproxy_binary), TEXT) as client, entered(client):
        yield client


def test_one_request(client: Client) -> None:
    answer = client.post(EXPLAIN, {"url": "http://shop.example/cart", "src": "10.1.2.3", "headers": {"X-A": ["1", "2"]}})
    assert answer.status == 200
    found = answer.json
    assert found["listener"] == {"frontend": "site", "bind": ":80", "line": 8}
    assert found["rules"] == [
        {"line": 14, "text": "http-request set-header X-Seen %[src]", "section": "backend shop from base", "because": []}
    ]
    assert (found["backend"], found["server"], found["servers"], found["status"]) == ("shop", "one", [{"name": "one"}], 200)
    headers = [(each["name"], each["value"]) for each in found["request"]["headers"]]
    assert headers == [("host", "shop.example"), ("x-a", "1"), ("x-a", "2"), ("x-seen", "10.1.2.3")]


def test_a_list_of_requests(client: Client) -> None:
    found = client.post(EXPLAIN, [{"url": "http://a/api"}, {"host": "a", "path": "/"}]).json
    assert [each.get("backend") for each in found] == [None, "shop"]
    assert found[0]["answered_by"] == {"line": 10, "text": "http-request deny if api", "section": "frontend site from base"}
    assert found[0]["rules"][0]["because"] == [
        {"term": "api", "acl": [{"line": 9, "text": "acl api path_beg /api", "section": "frontend site from base"}]}
    ]
    assert client.post(EXPLAIN, []).json == []


def test_a_transaction_and_a_text(client: Client) -> None:
    id_ = client.post("/v3/services/haproxy/transactions?version=1").json["id"]
    rules = "/v3/services/haproxy/configuration/frontends/site/http_request_rules/0"
    assert client("DELETE", f"{rules}?transaction_id={id_}").status == 202
    assert client.post(f"{EXPLAIN}?transaction_id={id_}", {"url": "http://a/api"}).json["status"] == 200
    assert client.post(EXPLAIN, {"url": "http://a/api", "transaction_id": id_}).json["status"] == 200
    found = client.post(EXPLAIN, {"url": "http://a/api"})
    assert found.json.get("status") == 403, found.body
    text = TEXT.replace("deny if api", "redirect location /new if api")
    found = client.post(EXPLAIN, {"url": "http://a/api", "config": text}).json
    assert (found["status"], found["location"]) == (302, "/new")


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"url": "http://a:99/", "frontend": "none"}, 400, "no listener accepts this request; set frontend or bind to one of: site (:80)"),
        ({"url": 5}, 400, "url in body must be a string"),
        ({"src": "not an address"}, 422, "src in body should match"),
        ([{"url": "http://a/"}, {"url": "http://a/", "config": "x"}], 400, "are about the same configuration"),
        ({"transaction_id": "a", "config": "x"}, 400, "send one config or one transaction_id"),
        ({"transaction_id": "none"}, 400, "transaction does not exist: none"),
        ([{"url": "http://a/"}, 5], 400, "body"),
        ({"url": "http://a/", "tls": {"version": "9"}}, 422, "tls.version in body should be one of"),
    ],
)
def test_refusals(client: Client, body: Any, status: int, said: str) -> None:
    answer = client.post(EXPLAIN, body)
    assert (answer.status, said in answer.message) == (status, True), answer.message


def test_nothing_is_changed(client: Client) -> None:
    before = client.file.read_bytes()
    client.post(EXPLAIN, {"url": "http://a/"})
    assert client.file.read_bytes() == before and client.get("/v3/sidecar/history").json == []
