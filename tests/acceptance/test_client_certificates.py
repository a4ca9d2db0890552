"""Authenticate callers by client certificates, with a real TLS client and the running server."""

import ssl
from pathlib import Path

import httpx2
import pytest
from cryptography import x509

from tests.app.authority import Authority
from tests.app.test_program import get, running
from tests.haproxy.process import free_port


def test_a_spiffe_pattern_is_met_by_the_only_uri_of_a_certificate(tmp_path: Path) -> None:
    """Other names in certificates of the same authority do not match the pattern."""
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    wanted = "spiffe://example.org/ns/web/sa/one"
    tls_port, statuses = free_port(), {}
    tls = {"tls_port": tls_port, "tls_certificate": str(certificate), "tls_key": str(key), "tls_ca": str(authority.file)}
    clients = {
        "right": authority.issue("right", uri=wanted),
        "other names": authority.issue("more", uri=wanted, others=[x509.DNSName("example.org"), x509.RFC822Name("a@example.org")]),
        "common name": authority.issue("common", common=wanted),
        "email": authority.issue("email", others=[x509.RFC822Name._init_without_validation(wanted)]),
        "DNS": authority.issue("dns", others=[x509.DNSName._init_without_validation(wanted)]),
        "two URIs": authority.issue("two", uri="spiffe://example.org/ns/db", others=[x509.UniformResourceIdentifier(wanted)]),
        "dots": authority.issue("dots", uri="spiffe://example.org/ns/web/../db"),
        "another": authority.issue("another", uri="spiffe://example.org/ns/db"),
    }
    with running(tmp_path, scheme=["http", "https"], tls=tls | {"tls_client_names": ["spiffe://example.org/ns/web/*"]}) as server:
        server.until(f"Serving data plane at https://127.0.0.1:{tls_port}")
        for what, files in clients.items():
            client = ssl.create_default_context(cafile=str(authority.file))
            client.load_cert_chain(*files)
            statuses[what] = get(tls_port, client)[0]
    assert statuses == dict.fromkeys(clients, 403) | {"right": 200, "other names": 200}


def test_roles_by_the_names_of_certificates(tmp_path: Path) -> None:
    """A SPIFFE id must be the only URI of a certificate. Other names lack its role, and callers without a certificate do not match `*`."""
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    wanted, tls_port, path = "spiffe://example.org/ns/shop/one", free_port(), str(tmp_path / "api.sock")
    listeners = [
        {"scheme": "https", "port": tls_port, "tls_certificate": str(certificate), "tls_key": str(key), "tls_ca": str(authority.file)},
        {"scheme": "unix", "socket_path": path, "basic_auth": False},
    ]
    role_of = {
        "users": {"admin": "admin"},
        "spiffe": {"spiffe://example.org/ns/shop/*": "editor"},
        "certificates": {"spiffe://*": "viewer", "*": "operator"},
    }
    other = x509.UniformResourceIdentifier("spiffe://example.org/ns/db")
    clients = {
        "right": (authority.issue("right", uri=wanted), ["editor"]),
        "DNS": (authority.issue("dns", uri="https://example.org", others=[x509.DNSName._init_without_validation(wanted)]), ["operator"]),
        "two URIs": (authority.issue("two", uri=wanted, others=[other]), ["viewer", "operator"]),
        "dots": (authority.issue("dots", uri="spiffe://example.org/ns/shop/../db"), ["viewer", "operator"]),
        "none": (authority.issue("none", common="node"), ["operator"]),
    }
    with running(tmp_path, scheme=["http"], listeners=listeners, role_of=role_of) as server:
        server.until(f"Serving data plane at https://127.0.0.1:{tls_port}")
        for what, (files, roles) in clients.items():
            context = ssl.create_default_context(cafile=str(authority.file))
            context.load_cert_chain(*files)
            with httpx2.Client(verify=context, timeout=60) as client:
                answer = client.get(f"https://127.0.0.1:{tls_port}/v3/sidecar/whoami")
            assert answer.json()["roles"] == roles, (what, answer.text)
        with httpx2.Client(transport=httpx2.HTTPTransport(uds=path), timeout=60, verify=False) as client:
            assert client.get("http://localhost/v3/sidecar/whoami").json()["roles"] == []
            assert client.get("http://localhost/v3/info").status_code == 403


def test_revoked_client_certificates(tmp_path: Path) -> None:
    """A changed revocation list takes effect with the next connection. If it cannot be read, the former list stays in effect."""
    authority = Authority(tmp_path)
    certificate, key = authority.issue("server")
    tls_port, revoked = free_port(), tmp_path / "revoked.pem"
    revoked.write_bytes(authority.revoke())
    tls = {"tls_port": tls_port, "tls_certificate": str(certificate), "tls_key": str(key), "tls_ca": str(authority.file)}
    clients = []
    for name in ("one", "two"):
        files = authority.issue(name)
        clients.append((files[0], ssl.create_default_context(cafile=str(authority.file))))
        clients[-1][1].load_cert_chain(*files)
    (first, one), (_, two) = clients
    with running(tmp_path, scheme=["http", "https"], tls=tls | {"tls_crl": str(revoked)}) as server:
        server.until(f"Serving data plane at https://127.0.0.1:{tls_port}")
        assert (get(tls_port, one)[0], get(tls_port, two)[0]) == (200, 200)
        revoked.write_bytes(authority.revoke(first))
        with pytest.raises(OSError):
            get(tls_port, one)
        assert get(tls_port, two)[0] == 200
        revoked.write_text("-----BEGIN X509 CRL-----\nbroken\n")
        with pytest.raises(OSError):
            get(tls_port, one)
        assert get(tls_port, two)[0] == 200
        server.until("the former one stays in use")
        revoked.write_bytes(authority.revoke(expired=True))
        with pytest.raises(OSError):
            get(tls_port, two)
        revoked.write_bytes(authority.revoke())
        assert (get(tls_port, one)[0], get(tls_port, two)[0]) == (200, 200)
