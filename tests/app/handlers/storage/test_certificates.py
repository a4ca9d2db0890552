"""Every operation on stored certificates, beside a real HAProxy."""

from collections.abc import Iterator
from datetime import UTC, datetime

import pytest

from tests.app.client import Client
from tests.tls.pems import authority, made
from tests.tls.served import STORAGE, tls_client, upload
from tests.tls.site import TlsSite

CERTS = f"{STORAGE}/ssl_certificates"
NEW = made("new.example.com", 0x1A2B3C4D5E6F, names=("www.new.example.com", "192.0.2.5"))
NEWER = made("new.example.com", 12)
TEXT = {"Content-Type": "text/plain"}
Both = tuple[TlsSite, Client]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with tls_client(tmp_path_factory.mktemp("tls")) as both:
        yield both


def test_the_life_of_a_certificate(both: Both) -> None:
    site, client = both
    path = site.directory / "new_example_com.pem"
    expected = {
        "description": "managed SSL file",
        "file": str(path),
        "storage_name": path.name,
        "size": len(NEW.pem),
        "not_before": "2024-05-01T08:00:00.000Z",
        "not_after": "2044-05-01T08:00:00.000Z",
        "issuers": "new.example.com",
        "domains": "new.example.com, www.new.example.com",
        "ip_addresses": "192.0.2.5",
        "subject": "new.example.com",
        "serial": str(0x1A2B3C4D5E6F),
    }
    got = upload(client, "POST", CERTS, NEW.pem, "new.example.com.pem")
    assert (got.status, got.json, "Reload-Id" in got.headers) == (201, expected, False)
    assert path.read_text() == NEW.pem
    for name in ("new_example_com.pem", "new.example.com.pem"):
        assert client.get(f"{CERTS}/{name}").json == expected
    row = {"description": "managed SSL file", "file": str(path), "storage_name": path.name}
    assert row in client.get(CERTS).json
    taken = upload(client, "POST", CERTS, NEW.pem, "new.example.com.pem")
    assert (taken.status, taken.message) == (409, f"object already exists: file {path} already exists")
    replaced = client.put(f"{CERTS}/new.example.com.pem", NEWER.pem.encode(), headers=TEXT)
    assert (replaced.status, replaced.json["serial"], replaced.json["size"]) == (200, "12", len(NEWER.pem))
    assert "Serial: 0C" in site.haproxy.ask(f"show ssl cert {path}")
    deleted = client.delete(f"{CERTS}/new_example_com.pem")
    assert (deleted.status, deleted.body, "Reload-Id" in deleted.headers) == (204, b"", False)
    assert not path.exists()
    assert "new_example_com" not in site.haproxy.ask("show ssl cert")


def test_a_certificate_in_use(both: Both) -> None:
    site, client = both
    got = client.put(f"{CERTS}/plain.pem", made("plain.example.com", 77).pem.encode(), headers=TEXT)
    assert (got.status, got.json["serial"], "Reload-Id" in got.headers) == (200, "77", False)
    assert site.serial("FILE") == 77
    refused = client.delete(f"{CERTS}/plain.pem")
    assert (refused.status, "referenced in haproxy conf at line 9: bind" in refused.message) == (409, True)
    assert site.serial("FILE") == 77


def test_one_that_only_a_reload_can_show(both: Both) -> None:
    """HAProxy reads the issuer beside a certificate at its start only."""
    site, client = both
    (site.directory / "used.pem.issuer").write_text(authority().cert)
    pem = made("used.example.com", 12, by=authority()).pem.encode()
    got = client.put(f"{CERTS}/used.pem", pem, headers=TEXT)
    assert (got.status, got.json["serial"]) == (202, "12")
    assert client.get(f"/v3/services/haproxy/reloads/{got.headers['Reload-Id']}").json["status"] == "in_progress"
    assert site.serial("USE") == 100
    forced = client.put(f"{CERTS}/used.pem?force_reload=true", pem, headers=TEXT)
    assert (forced.status, "Reload-Id" in forced.headers) == (200, False)
    assert site.serial("USE") == 12


def test_skipping(both: Both) -> None:
    site, client = both
    got = client.put(f"{CERTS}/b.pem?skip_reload=true&force_reload=true", made("b.example.com", 88).pem.encode(), headers=TEXT)
    assert (got.status, "Reload-Id" in got.headers) == (200, False)
    assert site.serial("LIST", "b.example.com") == 100
    assert upload(client, "POST", f"{CERTS}?skip_reload=true", NEW.pem, "s.pem").status == 201
    assert client.delete(f"{CERTS}/s.pem?skip_reload=true").status == 204


OLD = made("old.example.com", until=datetime(2025, 1, 1, tzinfo=UTC))
REFUSED = [
    (NEW.private, "failed to parse certificate"),
    (NEW.cert, "file should contain both certificate and private key"),
    ("hello", "failed to parse certificate"),
    ("", "failed to parse certificate"),
    (NEW.cert + NEWER.private, "the private key does not belong to the first certificate of the file (new.example.com)"),
]


@pytest.mark.parametrize(("text", "reason"), REFUSED)
def test_what_is_refused(both: Both, text: str, reason: str) -> None:
    site, client = both
    before = {path.name: path.read_bytes() for path in site.directory.iterdir() if path.is_file()}
    got = upload(client, "POST", CERTS, text, "refused.pem")
    assert (got.status, got.message[: len(reason)]) == (400, reason)
    if text:
        assert client.put(f"{CERTS}/a.pem", text.encode(), headers=TEXT).status == 400
    assert {path.name: path.read_bytes() for path in site.directory.iterdir() if path.is_file()} == before


@pytest.mark.parametrize(("method", "body"), [("GET", None), ("PUT", NEW.pem.encode()), ("DELETE", None)])
@pytest.mark.parametrize("name", ["none.pem", "..%2Fhaproxy.cfg", "many", "list.txt.pem"])
def test_what_is_not_there(both: Both, method: str, body: bytes | None, name: str) -> None:
    site, client = both
    got = client(method, f"{CERTS}/{name}", body, headers=TEXT if body else {})
    assert (got.status, f"doesn't exist in dir: {site.directory}" in got.message) == (404, True)
    assert site.haproxy.file.exists()


def test_a_body_that_is_missing(both: Both) -> None:
    got = both[1].put(f"{CERTS}/a.pem", b"", headers=TEXT)
    assert (got.status, got.message) == (400, "value is required but missing")


def test_an_expired_certificate_is_taken_with_a_warning(both: Both, caplog: pytest.LogCaptureFixture) -> None:
    """As HAProxy takes it; clients will not."""
    _, client = both
    said = "the certificate (old.example.com) expired on 2025-01-01T00:00:00.000Z"
    got = upload(client, "POST", f"{CERTS}?force_reload=true", OLD.pem, "old.pem")
    assert (got.status, got.headers["Warning"]) == (201, f'299 - "{said}"')
    assert said in caplog.text
    fresh = upload(client, "POST", f"{CERTS}?force_reload=true", NEW.pem, "fresh.pem")
    assert (fresh.status, "Warning" in fresh.headers) == (201, False)
