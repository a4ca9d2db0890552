"""Run an ACME authority (Pebble) and a name server with dynamic updates (Knot DNS), from which HAProxy gets certificates by dns-01."""

import base64
import json
import os
import secrets
import socket
import ssl
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Self

from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from demo.children import start, stop
from tests.haproxy import binaries
from tests.haproxy.process import free_port

ZONE = "example.test"
KNOT = """\
server:
  rundir: {directory}
  listen: 127.0.0.1@{port}
log:
  - target: stderr
    any: warning
database:
  storage: {directory}
key:
  - id: tsig
    algorithm: hmac-sha256
    secret: {key}
acl:
  - id: updates
    key: tsig
    action: update
zone:
  - domain: {zone}
    storage: {directory}
    file: zone
    acl: updates
    zonefile-sync: -1
    journal-content: none
"""
CONFIG = """\
global
  stats socket {{stats}} level admin
  expose-experimental-directives
  httpclient.ssl.verify none
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
acme authority
  directory {authority}
  account-key {directory}/account.key
  contact someone@example.test
{challenge}\
crt-store sites
  crt-base {directory}
  load crt site.pem acme authority domains {domain}
frontend site
  bind 127.0.0.1:{port} ssl crt @sites/site.pem
"""
CHALLENGE = """\
  challenge dns-01
  keytype ECDSA
  curves P-256
  provider-name rfc2136
  acme-vars "{variables}"
"""
RECORDS = f"""\
$ORIGIN {ZONE}.
$TTL 60
@ SOA ns root 1 60 60 600 1
@ NS ns
ns A 127.0.0.1
sub.alias CNAME elsewhere
elsewhere TXT "there"
"""


def configuration(directory: Path, port: int, domain: str, authority: str = "https://127.0.0.1:1/dir", challenge: str = "") -> str:
    """Return the configuration of a site whose certificate, `directory`/site.pem, HAProxy renews at an authority.

    Creates the certificate and the account key. By default, nobody listens at the URL of the authority.
    """
    path = directory / "site.pem"
    self_signed(directory / "key", path, domain)
    path.write_bytes(path.read_bytes() + (directory / "key").read_bytes())
    (directory / "account.key").write_text(account_key())
    return CONFIG.format(directory=directory, port=port, domain=domain, authority=authority, challenge=challenge)


def account_key() -> str:
    """Return an account key without leading zeros in its coordinates.

    HAProxy 3.4 leaves out leading zeros, and authorities refuse such a key.
    """
    while True:
        key = ec.generate_private_key(ec.SECP256R1())
        numbers = key.public_key().public_numbers()
        if min(numbers.x, numbers.y).bit_length() > 248:
            return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()


class Started:
    """A child process. The constructor waits until `answers` returns True; leaving the context ends the process."""

    def __init__(self, command: list[str], directory: Path, answers: Callable[[], bool]) -> None:
        self.log = directory / "log"
        self.process = start(command, self.log)
        deadline = time.monotonic() + 120
        while not answers():
            assert self.process.poll() is None, self.log.read_text()
            assert time.monotonic() < deadline, self.log.read_text()
            time.sleep(0.02)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        stop(self.process)


class NameServer(Started):
    """A name server with one zone, on `port` of 127.0.0.1. Updates of the zone are signed with `key` (hmac-sha256, named tsig)."""

    def __init__(self, directory: Path) -> None:
        binary = binaries.program("knotd")
        directory.mkdir()
        self.port, self.key = free_port(), base64.b64encode(secrets.token_bytes(32)).decode()
        (directory / "zone").write_text(RECORDS)
        (directory / "knot.conf").write_text(KNOT.format(directory=directory, port=self.port, key=self.key, zone=ZONE))
        super().__init__([binary, "-c", str(directory / "knot.conf")], directory, lambda: listens(self.port))

    @property
    def variables(self) -> dict[str, str]:
        """Return the variables of the DNS provider rfc2136 for this name server."""
        return {"server": f"127.0.0.1:{self.port}", "key_name": "tsig", "key_alg": "hmac-sha256", "key": self.key}

    @property
    def challenge(self) -> str:
        """Return the lines of an `acme` section that solves its challenges with this name server."""
        return CHALLENGE.format(variables=",".join(f"{name}={value}" for name, value in self.variables.items()))


class Authority(Started):
    """An ACME authority with the URL `directory_url`, which checks challenges with one name server."""

    def __init__(self, directory: Path, name_server: NameServer) -> None:
        binary = binaries.program("pebble")
        directory.mkdir()
        port, key = free_port(), directory / "own.key"
        self.directory_url = f"https://127.0.0.1:{port}/dir"
        self_signed(key, directory / "own.pem", "127.0.0.1")
        settings = {
            "listenAddress": f"127.0.0.1:{port}",
            "managementListenAddress": f"127.0.0.1:{free_port()}",
            "httpPort": 1,
            "tlsPort": 1,
        }
        settings |= {"certificate": str(directory / "own.pem"), "privateKey": str(key)}
        (directory / "pebble.json").write_text(json.dumps({"pebble": settings}))
        command = [binary, "-config", str(directory / "pebble.json"), "-dnsserver", f"127.0.0.1:{name_server.port}"]
        environment = [f"{name}={value}" for name, value in (("PEBBLE_VA_NOSLEEP", "1"), ("PEBBLE_WFE_NONCEREJECT", "0"))]
        super().__init__(["env", *environment, *command], directory, lambda: listens(port))


def listens(port: int) -> bool:
    with socket.socket() as connection:
        return connection.connect_ex(("127.0.0.1", port)) == 0


def self_signed(key: Path, certificate: Path, name: str) -> None:
    subject = ["-subj", f"/CN={name}", "-addext", f"subjectAltName={'IP' if name[0].isdigit() else 'DNS'}:{name}"]
    new = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
    subprocess.run([*new, "-keyout", str(key), "-out", str(certificate), *subject], check=True, capture_output=True, env=os.environ)


def served(port: int) -> str:
    """Return the certificate that a listener presents, as PEM."""
    return ssl.get_server_certificate(("127.0.0.1", port))
