"""Every operation on certificate lists in memory, asked of a real HAProxy."""

from collections.abc import Iterator

import pytest

from tests.app.client import Client
from tests.tls.pems import made
from tests.tls.served import RUNTIME, quoted, tls_client, upload
from tests.tls.site import TlsSite

LISTS = f"{RUNTIME}/ssl_crt_lists"
NEW = made("c.example.com", 0xC)
Both = tuple[TlsSite, Client]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with tls_client(tmp_path_factory.mktemp("tls")) as both:
        yield both


def entries_of(site: TlsSite) -> str:
    return f"{LISTS}/entries?name={quoted(site.path('list.txt'))}"


def test_lists(both: Both) -> None:
    site, client = both
    assert {"file": site.path("list.txt")} in client.get(LISTS).json
    assert {"file": site.path("many")} in client.get(LISTS).json


def test_entries(both: Both) -> None:
    site, client = both
    assert client.get(entries_of(site)).json == [
        {"file": site.path("a.pem"), "line_number": 2},
        {
            "file": site.path("b.pem"),
            "line_number": 4,
            "ssl_bind_config": "alpn h2,http/1.1",
            "sni_filter": ["b.example.com", "!x.b.example.com"],
        },
    ]


def test_an_entry_comes_and_goes(both: Both) -> None:
    site, client = both
    target = entries_of(site)
    before = client.get(target).json
    early = client.post(target, {"file": "c.pem"})
    assert (early.status, "certificate 'c.pem' does not exist!" in early.message) == (404, True)
    assert upload(client, "POST", f"{RUNTIME}/ssl_certs", NEW.pem, "c.pem").status == 201
    body = {"file": "c.pem", "ssl_bind_config": "ssl-min-ver TLSv1.2", "sni_filter": ["c.example.com", "*.c.example.com"]}
    got = client.post(target, body)
    assert (got.status, got.body) == (201, b"")
    assert client.get(target).json == [*before, body | {"line_number": 5}]
    assert site.serial("LIST", "x.c.example.com") == 0xC
    assert client.post(target, {"file": "c.pem"}).status == 201
    assert client.delete(f"{RUNTIME}/ssl_certs/c.pem").status == 409
    several = client.delete(f"{target}&cert_file=c.pem")
    assert (several.status, "please specify a line number" in several.message) == (404, True)
    assert client.delete(f"{target}&cert_file=c.pem&line_number=5").status == 204
    assert client.delete(f"{target}&cert_file=c.pem").status == 204
    assert client.delete(f"{target}&cert_file=c.pem").status == 404
    assert client.get(target).json == before
    assert client.delete(f"{RUNTIME}/ssl_certs/c.pem").status == 204


@pytest.mark.parametrize(
    ("method", "query", "status", "said"),
    [
        ("GET", "?name=none", 404, "didn't find the specified filename [show ssl crt-list -n none] not found"),
        ("GET", "", 400, "Query argument name is required, but not found"),
        ("DELETE", "?name=none", 400, "Query argument cert_file is required, but not found"),
        ("DELETE", "?name=none&cert_file=c.pem", 404, "crt-list 'none' does not exist! [del ssl crt-list none c.pem] not found"),
        ("DELETE", "?name=none&cert_file=c.pem&line_number=0", 400, "line_number"),
    ],
)
def test_refusals(both: Both, method: str, query: str, status: int, said: str) -> None:
    got = both[1](method, f"{LISTS}/entries{query}")
    assert (got.status, said in got.message) == (status, True), got.body


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({}, 400, "missing certificate file name"),
        ({"file": "a\nb.pem x"}, 400, "file in body must not contain a line break"),
        ({"file": "a.pem", "sni_filter": ["x\n/etc/passwd"]}, 400, "sni_filter.0 in body must not contain a line break"),
        ({"file": "a.pem x"}, 400, "file in body cannot contain"),
        ({"file": "a.pem", "ssl_bind_config": "alpn h2] x"}, 400, "ssl_bind_config in body cannot contain"),
        ({"file": "a.pem", "ssl_bind_config": "nonsense 1"}, 400, ""),
    ],
)
def test_entries_that_are_none(both: Both, body: dict[str, object], status: int, said: str) -> None:
    site, client = both
    before = client.get(entries_of(site)).json
    got = client.post(entries_of(site), body)
    assert (got.status, said in got.message) == (status, True), got.body
    assert client.get(entries_of(site)).json == before
