"""Run a HAProxy that gets certificates in each possible way, and find out by a handshake which certificate it serves."""

import socket
import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509

from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.tls.pems import authority, made, revoking

CONFIG = """global
  stats socket {stats} mode 600 level admin
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend web
  bind 127.0.0.1:FILE ssl crt DIR/plain.pem
  bind 127.0.0.1:LIST ssl crt-list DIR/list.txt
  bind 127.0.0.1:DIRECTORY ssl crt DIR/many
  bind 127.0.0.1:MUTUAL ssl crt DIR/mutual.pem ca-file DIR/ca.pem crl-file DIR/crl.pem verify optional
"""
FRONT_USE = """frontend used
  bind 127.0.0.1:USE ssl
  ssl-f-use crt DIR/used.pem
"""
FRONT_USES = (3, 2)


@dataclass(frozen=True)
class TlsSite:
    """A HAProxy that serves TLS. `ports` has its ports by name of the listener: FILE, LIST, DIRECTORY, MUTUAL and, since 3.2, USE."""

    haproxy: HAProxy
    directory: Path
    ports: dict[str, int]

    def path(self, name: str) -> str:
        return str(self.directory / name)

    def serial(self, listener: str, name: str = "plain.example.com") -> int:
        """Return the serial number of the certificate that a listener serves for a server name."""
        return served(self.ports[listener], name)


@contextmanager
def tls_site(directory: Path, binary: str, ssl_directory: Path | None = None) -> Iterator[TlsSite]:
    """Run HAProxy. Each listener has one certificate with the serial number 100; LIST has two, for a.example.com and b.example.com."""
    uses = binaries.version(binary) >= FRONT_USES
    ports = {name: free_port() for name in ("FILE", "LIST", "DIRECTORY", "MUTUAL", *(("USE",) if uses else ()))}
    stored = ssl_directory or directory / "ssl"
    write_files(stored)
    config = CONFIG + (FRONT_USE if uses else "")
    for name, port in ports.items():
        config = config.replace(f":{name} ", f":{port} ")
    with HAProxy(directory, config.replace("DIR", str(stored)), binary=binary) as haproxy:
        yield TlsSite(haproxy, stored, ports)


def write_files(stored: Path) -> None:
    (stored / "many").mkdir(parents=True)
    for name in ("plain", "mutual", "used", "many/one"):
        (stored / f"{name}.pem").write_text(made("plain.example.com", 100).pem)
    (stored / "a.pem").write_text(made("a.example.com", 100).pem)
    (stored / "b.pem").write_text(made("b.example.com", 100).pem)
    (stored / "list.txt").write_text(f"# the default\n{stored}/a.pem\n\n{stored}/b.pem [alpn h2,http/1.1] b.example.com !x.b.example.com\n")
    (stored / "ca.pem").write_text(authority().cert)
    (stored / "crl.pem").write_text(revoking(authority()))


def served(port: int, name: str) -> int:
    """Return the serial number of the certificate that a port serves for a server name."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=60) as plain, context.wrap_socket(plain, server_hostname=name) as secure:
        data = secure.getpeercert(binary_form=True)
        assert data
        return x509.load_der_x509_certificate(data).serial_number
