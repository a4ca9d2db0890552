"""A listener's certificate, key and client CA, and their rotation."""

import logging
import os
import socket
import ssl
import threading
from pathlib import Path

import pytest

from dataplaneapi.server.listeners import Identity
from dataplaneapi.settings.table import SettingsError
from tests.app.authority import Authority


def shown(identity: Identity, client: ssl.SSLContext) -> tuple[str, str, str | None]:
    """Serial number, version and protocol that a client meets."""
    ours, theirs = socket.socketpair()
    with ours, theirs:

        def serve() -> None:
            try:
                with identity.context().wrap_socket(ours, server_side=True) as connection:
                    connection.recv(1)
            except (ssl.SSLError, OSError):
                ours.close()

        server = threading.Thread(target=serve)
        server.start()
        try:
            with client.wrap_socket(theirs, server_hostname="localhost") as connection:
                certificate = connection.getpeercert()
                assert certificate is not None
                return str(certificate["serialNumber"]), str(connection.version()), connection.selected_alpn_protocol()
        finally:
            server.join()


def trusting(authority: Authority) -> ssl.SSLContext:
    return ssl.create_default_context(cafile=str(authority.file))


def swap(link: Path, target: Path) -> None:
    """As those do who rotate: a new link, renamed onto the old one."""
    new = link.with_suffix(".new")
    new.symlink_to(target)
    os.replace(new, link)


def test_a_rotation_by_links(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    authority = Authority(tmp_path)
    first, second = authority.issue("first"), authority.issue("second")
    certificate, key = tmp_path / "tls.crt", tmp_path / "tls.key"
    swap(certificate, first[0])
    swap(key, first[1])
    identity, client = Identity(str(certificate), str(key)), trusting(authority)
    before = shown(identity, client)
    assert shown(identity, client) == before
    swap(certificate, second[0])
    assert shown(identity, client) == before, "half of a rotation changes nothing"
    assert "the former one stays in use" in caplog.text
    swap(key, second[1])
    after = shown(identity, client)
    assert after[0] != before[0]
    assert f"CRLs of the listener: {certificate}" in caplog.text
    certificate.unlink()
    assert shown(identity, client) == after
    assert "No such file" in caplog.text


def test_another_client_authority(tmp_path: Path) -> None:
    ours, others = Authority(tmp_path, "ours"), Authority(tmp_path, "others")
    certificate, key = ours.issue("server")
    trusted = tmp_path / "clients.pem"
    trusted.write_bytes(others.file.read_bytes())
    client = trusting(ours)
    client.maximum_version = ssl.TLSVersion.TLSv1_2  # a client is refused within the handshake
    identity = Identity(str(certificate), str(key), str(trusted))
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shown(identity, client)
    client.load_cert_chain(*ours.issue("client"))
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shown(identity, client)
    trusted.write_bytes(ours.file.read_bytes() + b"\n")
    assert shown(identity, client)[1] == "TLSv1.2"


def test_what_is_spoken(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    identity, client = Identity(str(certificate), str(key)), trusting(authority)
    client.set_alpn_protocols(["h2", "http/1.1"])
    assert shown(identity, client)[1:] == ("TLSv1.3", "http/1.1")
    client.maximum_version = ssl.TLSVersion.TLSv1_2
    client.set_ciphers("ECDHE-ECDSA-AES128-GCM-SHA256")
    assert shown(identity, client)[1] == "TLSv1.2"
    client.set_ciphers("ECDHE-ECDSA-AES128-SHA256")
    with pytest.raises((ssl.SSLError, ConnectionError)):
        shown(identity, client)


@pytest.mark.parametrize("spoiled", ["missing", "no certificate", "another's key", "locked"])
def test_what_cannot_be_served_is_told_with_its_files(tmp_path: Path, spoiled: str) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    if spoiled == "missing":
        key.unlink()
    elif spoiled == "no certificate":
        certificate.write_text("nothing")
    elif spoiled == "another's key":
        key = authority.issue("other")[1]
    else:
        key.write_text(LOCKED)
    with pytest.raises(SettingsError, match=rf"TLS cannot be served: .*{key.name}"):
        Identity(str(certificate), str(key))


LOCKED = """\
-----BEGIN ENCRYPTED PRIVATE KEY-----
MIHsMFcGCSqGSIb3DQEFDTBKMCkGCSqGSIb3DQEFDDAcBAg=
-----END ENCRYPTED PRIVATE KEY-----
"""


def test_a_file_of_revoked_certificates_that_is_none(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = map(str, authority.issue("server"))
    for text in (b"", authority.file.read_bytes(), b"nothing"):
        (tmp_path / "revoked.pem").write_bytes(text)
        with pytest.raises(SettingsError, match=r"TLS cannot be served: .*revoked.pem"):
            Identity(certificate, key, str(authority.file), str(tmp_path / "revoked.pem"))


def test_lists_in_the_file_of_the_authority_count(tmp_path: Path) -> None:
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    revoked, good = authority.issue("revoked"), authority.issue("good")
    trusted = tmp_path / "trusted.pem"
    trusted.write_bytes(authority.file.read_bytes() + authority.revoke(revoked[0]))
    identity = Identity(str(certificate), str(key), str(trusted))
    for files, is_good in ((good, True), (revoked, False)):
        client = trusting(authority)
        client.maximum_version = ssl.TLSVersion.TLSv1_2
        client.load_cert_chain(*files)
        if is_good:
            assert shown(identity, client)[1] == "TLSv1.2"
        else:
            with pytest.raises((ssl.SSLError, ConnectionError)):
                shown(identity, client)
