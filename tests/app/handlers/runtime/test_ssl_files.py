"""Every operation on certificates, CA files and CRL files in memory, asked of a real HAProxy."""

from collections.abc import Iterator

import pytest

from tests.app.client import Client
from tests.tls.pems import authority, made, revoking
from tests.tls.served import RUNTIME, quoted, tls_client, upload
from tests.tls.site import TlsSite

CERTS, CAS, CRLS = f"{RUNTIME}/ssl_certs", f"{RUNTIME}/ssl_ca_files", f"{RUNTIME}/ssl_crl_files"
NEW = made("plain.example.com", 0x200, names=("192.0.2.5",))
OTHER = made("other.example.com", 0x300)
Both = tuple[TlsSite, Client]


@pytest.fixture(scope="module")
def both(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Both]:
    with tls_client(tmp_path_factory.mktemp("tls")) as both:
        yield both


def test_certificates(both: Both) -> None:
    site, client = both
    rows = client.get(CERTS).json
    assert {"storage_name": site.path("a.pem"), "description": "a.pem"} in rows
    shown = client.get(f"{CERTS}/{quoted(site.path('a.pem'))}").json
    assert (shown["storage_name"], shown["serial"], shown["status"]) == (site.path("a.pem"), "64", "Used")
    assert shown["not_after"] == "2044-05-01T08:00:00.000Z"


def test_a_certificate_is_replaced(both: Both) -> None:
    site, client = both
    target = f"{CERTS}/{quoted(site.path('plain.pem'))}"
    got = upload(client, "PUT", target, NEW.pem, name="whatever.pem")
    assert (got.status, got.body) == (200, b"")
    assert client.get(target).json["serial"] == "0200"
    assert site.serial("FILE") == 0x200
    refused = upload(client, "PUT", target, NEW.cert + OTHER.private)
    assert refused.status == 400
    assert "inconsistencies between private key and certificate" in refused.message
    assert "PRIVATE" not in refused.message
    assert site.serial("FILE") == 0x200


def test_the_life_of_a_certificate(both: Both) -> None:
    site, client = both
    got = upload(client, "POST", CERTS, OTHER.pem, name="C:/x/b new.pem")
    assert (got.status, got.body) == (201, b"")
    assert client.get(f"{CERTS}/b%20new.pem").json["status"] == "Unused"
    taken = upload(client, "POST", CERTS, OTHER.pem, name="b new.pem")
    assert (taken.status, "already exists!" in taken.message) == (409, True)
    assert client.delete(f"{CERTS}/b%20new.pem").status == 204
    assert client.delete(f"{CERTS}/b%20new.pem").status == 404
    used = client.delete(f"{CERTS}/{quoted(site.path('plain.pem'))}")
    assert (used.status, "in use, can't be deleted!" in used.message) == (409, True)


@pytest.mark.parametrize("collection", [CERTS, CAS, CRLS])
def test_uploads_that_are_none(both: Both, collection: str) -> None:
    _, client = both
    before = client.get(collection).json
    for content, name, field, said in [
        ("", "n.pem", "file_upload", "the uploaded file is empty"),
        (" \n", "n.pem", "file_upload", "the uploaded file is empty"),
        ("a\0b", "n.pem", "file_upload", "the uploaded file is not text"),
        ("nonsense", "n.pem", "file_upload", "payload"),
        (OTHER.pem, "n.pem", "other", "http: no such file"),
        (OTHER.pem, "", "file_upload", "no file name"),
    ]:
        got = upload(client, "POST", collection, content, name, field)
        assert (got.status, said in got.message) == (400, True), got.body
    assert client.get(collection).json == before


def test_an_upload_that_is_too_long(both: Both) -> None:
    _, client = both
    got = upload(client, "POST", CERTS, "A" * (1 << 20) + "A", "long.pem")
    assert got.status == 413
    long = upload(client, "POST", CERTS, "\n".join([OTHER.cert * 40, OTHER.private]), "long.pem")
    assert (long.status, "too big" in long.message or "closed the connection" in long.message) == (400, True)
    assert "long.pem" not in str(client.get(CERTS).json)


@pytest.mark.parametrize(
    ("target", "said"),
    [
        (
            f"{CERTS}/none.pem",
            "Can't display the certificate: Not found or the certificate is a bundle! [show ssl cert none.pem] not found",
        ),
        (f"{CAS}/none.pem", " none.pem not found"),
        (f"{CAS}/none.pem/entries/1", "Can't display the CA file : Not found! [show ssl ca-file none.pem:1] not found"),
        (f"{CRLS}/none.pem", "Can't display the CRL file : Not found! [show ssl crl-file none.pem] not found"),
    ],
)
def test_what_is_not_there(both: Both, target: str, said: str) -> None:
    got = both[1].get(target)
    assert (got.status, got.message.endswith(said)) == (404, True), got.message


@pytest.mark.parametrize("collection", [CERTS, CAS, CRLS])
def test_replacing_what_is_not_there(both: Both, collection: str) -> None:
    pem = {CERTS: OTHER.pem, CAS: authority().cert, CRLS: revoking(authority())}[collection]
    assert upload(both[1], "PUT", f"{collection}/none.pem", pem).status == 404


def test_ca_files(both: Both) -> None:
    site, client = both
    name = site.path("ca.pem")
    target = f"{CAS}/{quoted(name)}"
    assert {"storage_name": name, "count": "1 certificate(s)"} in client.get(CAS).json
    assert client.get(target).json == {"storage_name": name, "count": "1 certificate(s)"}
    assert client.get(f"{target}/entries/1").json["subject"] == "/CN=Test Root"
    assert upload(client, "POST", f"{target}/entries", authority("Second").cert).status == 201
    assert client.get(f"{target}/entries/2").status == 200
    assert client.get(target).json["count"] == "2 certificate(s)"
    assert upload(client, "PUT", target, authority("Third").cert).status == 201
    assert client.get(f"{target}/entries/1").json["subject"] == "/CN=Third"
    for index in (0, 2, 99):
        assert client.get(f"{target}/entries/{index}").status == 404
    assert client.delete(target).status == 409


def test_crl_files(both: Both) -> None:
    site, client = both
    name = site.path("crl.pem")
    target = f"{CRLS}/{quoted(name)}"
    assert client.get(CRLS).json == [{"storage_name": name, "description": "crl.pem"}]
    assert upload(client, "PUT", target, revoking(authority(), 0x5EAF01)).status == 200
    (shown,) = client.get(target).json
    assert (shown["last_update"], shown["next_update"]) == ("2024-05-01", "2044-05-01")
    assert shown["revoked_certificates"] == [{"serial_number": "5EAF01", "revocation_date": "2024-05-02"}]
    assert client.get(f"{target}?index=1").json == [shown]
    assert client.get(f"{target}?index=0").status == 400
    assert client.delete(target).status == 409


@pytest.mark.parametrize(("collection", "pem"), [(CAS, authority().cert), (CRLS, revoking(authority()))])
def test_the_life_of_others(both: Both, collection: str, pem: str) -> None:
    _, client = both
    assert upload(client, "POST", collection, pem, "new.pem").status == 201
    assert upload(client, "POST", collection, pem, "new.pem").status == 409
    assert client.get(f"{collection}/new.pem").status == 200
    assert client.delete(f"{collection}/new.pem").status == 204
    assert client.delete(f"{collection}/new.pem").status == 404
