"""Every operation on stored certificate lists and their entries, beside a real HAProxy."""

import base64
from collections.abc import Iterator
from pathlib import Path

import pytest
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, pkcs12

from tests.app.client import CONFIGURATION, Client, settings
from tests.haproxy.process import free_port
from tests.tls.pems import made
from tests.tls.served import STORAGE, quoted, tls_client, upload
from tests.tls.site import TlsSite

LISTS = f"{STORAGE}/ssl_crt_lists"
TEXT = {"Content-Type": "text/plain"}
Both = tuple[TlsSite, Client]
ONE = made("one.example.com", 1)


@pytest.fixture
def both(tmp_path: Path) -> Iterator[Both]:
    with tls_client(tmp_path) as (site, client):
        (site.directory / "c.pem").write_text(made("c.example.com", 0xC).pem)
        yield site, client


def test_the_life_of_a_list(both: Both) -> None:
    site, client = both
    path = site.directory / "new.txt"
    text = "/x.pem [alpn h2] one two\n# comment\n\n/y.pem"
    expected = {"description": "managed certificate list", "file": str(path), "storage_name": "new.txt", "size": len(text)}
    got = upload(client, "POST", LISTS, text, "new.txt")
    assert (got.status, got.json) == (201, expected)
    assert path.read_text() == f"{text}\n"
    fetched = client.get(f"{LISTS}/new.txt")
    assert (fetched.headers["Content-Type"], path.stat().st_mode & 0o777) == ("application/octet-stream", 0o640)
    assert client.get(f"{LISTS}/new.txt/entries").json == [
        {"file": "/x.pem", "ssl_bind_config": "alpn h2", "sni_filter": ["one", "two"]},
        {"file": "/y.pem"},
    ]
    names = [row["storage_name"] for row in client.get(LISTS).json]
    assert names == ["list.txt", "new.txt"]
    assert upload(client, "POST", LISTS, "x", "new.txt").status == 409
    replaced = client.put(f"{LISTS}/new.txt", b"/z.pem", headers=TEXT)
    assert (replaced.status, replaced.json["size"], path.read_text()) == (200, 6, "/z.pem\n")
    assert client.delete(f"{LISTS}/new.txt").status == 204
    assert not path.exists()


def test_an_empty_list_and_another_extension(both: Both) -> None:
    site, client = both
    assert upload(client, "POST", f"{LISTS}?force_reload=true", "", "empty.list").status == 201
    assert (site.directory / "empty.list").read_bytes() == b""
    assert "empty.list" not in str(client.get(LISTS).json)
    assert client.get(f"{LISTS}/empty.list/entries").status == 404
    assert client.delete(f"{LISTS}/empty.list").status == 204


def test_entries_of_a_list_in_use(both: Both) -> None:
    site, client = both
    entries = f"{LISTS}/list.txt/entries"
    body = {"file": site.path("c.pem"), "ssl_bind_config": "ssl-min-ver TLSv1.2", "sni_filter": ["c.example.com"]}
    got = client.post(entries, body)
    assert (got.status, got.json, "Reload-Id" in got.headers) == (201, body, False)
    assert client.get(entries).json[-1] == body
    assert site.serial("LIST", "c.example.com") == 0xC
    place = f"certificate={quoted(body['file'])}"
    missing = client.delete(f"{entries}?{place}")
    assert (missing.status, missing.message) == (400, "Query argument line_number is required, but not found")
    assert client.delete(f"{entries}?{place}&line_number=4").status == 404
    assert client.delete(f"{entries}?{place}&line_number=5").status == 204
    assert client.delete(f"{entries}?{place}&line_number=0").status == 404
    assert site.serial("LIST", "c.example.com") == 100
    in_use = client.delete(f"{LISTS}/list.txt")
    assert (in_use.status, "referenced in haproxy conf at line 10: bind" in in_use.message) == (409, True)


def test_an_entry_of_a_list_that_is_not_there_makes_it(both: Both) -> None:
    site, client = both
    assert client.post(f"{LISTS}/fresh.txt/entries", {"file": "/x.pem"}).status == 201
    assert (site.directory / "fresh.txt").read_text() == "/x.pem\n"
    assert client.delete(f"{LISTS}/fresh.txt?skip_reload=true").status == 204


@pytest.mark.parametrize(
    ("body", "status", "said"),
    [
        ({"sni_filter": ["x"]}, 400, "missing certificate file name"),
        ({"file": "a b"}, 400, "file in body cannot contain"),
        ({"file": "/none.pem"}, 400, "refused by HAProxy: unable to stat SSL certificate from file '/none.pem'"),
    ],
)
def test_entries_that_are_refused(both: Both, body: dict[str, object], status: int, said: str) -> None:
    site, client = both
    before = (site.directory / "list.txt").read_text()
    got = client.post(f"{LISTS}/list.txt/entries", body)
    assert (got.status, said in got.message) == (status, True), got.message
    assert (site.directory / "list.txt").read_text() == before


def test_an_order_that_only_a_reload_can_make(both: Both) -> None:
    site, client = both
    path = site.directory / "list.txt"
    lines = path.read_text().splitlines(keepends=True)
    got = client.put(f"{LISTS}/list.txt", "".join(reversed(lines)).encode(), headers=TEXT)
    assert (got.status, got.json["storage_name"]) == (202, "list.txt")
    forced = client.post(f"{LISTS}/list.txt/entries?force_reload=true", {"file": site.path("c.pem"), "sni_filter": ["c.example.com"]})
    assert (forced.status, "Reload-Id" in forced.headers) == (201, False)
    assert site.serial("LIST", "c.example.com") == 0xC


@pytest.mark.parametrize(("method", "path"), [("GET", ""), ("GET", "/entries"), ("PUT", ""), ("DELETE", "")])
def test_what_is_not_there(both: Both, method: str, path: str) -> None:
    body = b"x\n" if method == "PUT" else None
    got = both[1](method, f"{LISTS}/none.txt{path}", body, headers=TEXT if body else {})
    assert (got.status, "file none.txt doesn't exist in dir: " in got.message) == (404, True)


def test_a_key_in_the_same_directory_is_no_list(both: Both) -> None:
    site, client = both
    before = (site.directory / "c.pem").read_bytes()
    answers = [
        client.get(f"{LISTS}/c.pem"),
        client.put(f"{LISTS}/c.pem?skip_reload=true", b"/z.pem", headers=TEXT),
        client.post(f"{LISTS}/c.pem/entries", {"file": "/z.pem"}),
        client.delete(f"{LISTS}/c.pem?skip_reload=true"),
    ]
    assert [answer.status for answer in answers] == [404, 404, 409, 404]
    assert not any("PRIVATE" in answer.body.decode() for answer in answers)
    assert (site.directory / "c.pem").read_bytes() == before


SECRETS = {
    "tickets.key": base64.b64encode(bytes(range(48))) + b"\n" + base64.b64encode(bytes(range(1, 49))) + b"\n",
    "tickets.txt": base64.b64encode(bytes(range(80))) + b"\n",
    "bundle.p12": pkcs12.serialize_key_and_certificates(b"x", ONE.key, ONE.certificate, None, NoEncryption()),
    "key.der": ONE.key.private_bytes(Encoding.DER, PrivateFormat.PKCS8, NoEncryption()),
    "account.jwk": b'{"kty":"EC","crv":"P-256","d":"c2VjcmV0"}\n',
    "account.txt": b'{\n"crv":"P-256",\n"kty":"EC"}\n',
    "bom.pem": b"\xef\xbb\xbf" + ONE.private.encode(),
    "bom.txt": b"\xef\xbb\xbf" + ONE.private.encode(),
    "indented.txt": b"  " + ONE.private.replace("\n", "\n  ").encode(),
    "wide.txt": ONE.private.encode("utf-16"),
    "unknown.secret": b"correct horse battery staple\n",
    "in-use.txt": b"correct horse\n",
}


@pytest.mark.parametrize("name", SECRETS)
def test_what_is_no_list_is_sent_by_no_operation(tmp_path: Path, name: str) -> None:
    """Neither its text, nor as entries, nor whether a word begins one of its lines."""
    given = settings(tmp_path, maps_dir=str(tmp_path / "ssl"), general_storage_dir=str(tmp_path / "ssl"))
    (tmp_path / "ssl").mkdir()
    (tmp_path / "ssl" / name).write_bytes(SECRETS[name])
    bind = "frontend f\n  mode http\n  bind :80 ssl crt x.pem tls-ticket-keys ssl/in-use.txt\n"
    with Client(given, CONFIGURATION + bind) as client:
        got = [client.get(f"{LISTS}/{name}"), client.get(f"{LISTS}/{name}/entries")]
        guess = quoted(SECRETS[name].split()[0].decode("latin-1"))
        got.append(client.delete(f"{LISTS}/{name}/entries?certificate={guess}&line_number=0"))
        if name not in ("unknown.secret", "in-use.txt"):
            got += [client.get(f"{STORAGE}/general/{name}"), client.get(f"{STORAGE}/maps/{name}")]
        assert {answer.status for answer in got} == {404}, got
        assert len({answer.message for answer in got}) == 1
    assert (tmp_path / "ssl" / name).read_bytes() == SECRETS[name]


def test_a_list_of_another_name_that_the_configuration_loads(both: Both) -> None:
    site, client = both
    (site.directory / "sites.list").write_text(f"{site.path('a.pem')}\n")
    assert client.get(f"{LISTS}/sites.list").status == 404
    text = client.get("/v3/services/haproxy/configuration/raw").body.decode()
    bind = f"\nfrontend more\n  mode http\n  bind 127.0.0.1:{free_port()} ssl crt-list {site.directory}/sites.list\n"
    raw = "/v3/services/haproxy/configuration/raw?skip_version=true"
    assert client.post(raw, (text + bind).encode(), headers=TEXT).status == 202
    assert client.get(f"{LISTS}/sites.list").body == f"{site.path('a.pem')}\n".encode()
    assert client.get(f"{LISTS}/sites.list/entries").json == [{"file": site.path("a.pem")}]
