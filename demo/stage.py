"""Create the directory of the demo: two configurations from the files next to this module, a split, and a certificate that expires soon."""

import datetime
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from itertools import chain, repeat
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec

from haproxy_native.storage.list_files import Split, format_split

TEMPLATES = Path(__file__).parent
API, SITE = 5555, 8080
# Parts of a hundred.
SHARES = {"shop_stable": 90, "shop_next": 10}
DAYS_LEFT = 9


@dataclass(frozen=True)
class Stage:
    """Ports on 127.0.0.1 and the directory that holds every file."""

    directory: Path
    haproxy: str
    api: int
    site: int
    one: int
    two: int
    shop: int
    # Nothing listens there.
    down: int

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.api}/v3/services/haproxy/configuration"

    @property
    def haproxy_command(self) -> list[str]:
        return [self.haproxy, "-W", "-S", str(self.directory / "master.sock"), "-f", str(self.directory / "haproxy.cfg")]

    @property
    def socket(self) -> Path:
        """The Unix socket on which the server listens as well."""
        return self.directory / "api.sock"

    @property
    def settings(self) -> Path:
        return self.directory / "dataplaneapi.yaml"


def prepare(directory: Path, haproxy: str) -> Stage:
    """Create the files of a demo. It uses the well-known ports, and instead of those that are in use, free ones."""
    stage = Stage(directory, haproxy, *map(claim_port, (API, SITE, 0, 0, 0, 0)))
    for name in ("haproxy.cfg", "dataplaneapi.yaml"):
        text = (TEMPLATES / name).read_text()
        for key, value in vars(stage).items():
            text = text.replace(f"@{key.upper()}@", str(value))
        (directory / name).write_text(text)
    for name in ("maps", "ssl"):
        (directory / name).mkdir(exist_ok=True)
    (directory / "maps/split_canary.map").write_text(_split())
    (directory / "ssl/shop.example.pem").write_bytes(_certificate("shop.example"))
    return stage


def _split() -> str:
    """Return the map of a split."""
    return format_split(Split("random", SHARES, time.time()), [name for name, share in SHARES.items() for _ in range(share)])


def _certificate(name: str) -> bytes:
    """Return a self-signed certificate that expires in DAYS_LEFT days, with its key."""
    key, now = ec.generate_private_key(ec.SECP256R1()), datetime.datetime.now(datetime.UTC)
    subject = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, name)])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(subject)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - datetime.timedelta(days=81))
        .not_valid_after(now + datetime.timedelta(days=DAYS_LEFT))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    return certificate.public_bytes(serialization.Encoding.PEM) + private


def claim_port(wanted: int) -> int:
    """Return the wanted port if it is free, otherwise another free port. No other demo gets the port before this process ends.

    HAProxies of two demos could listen on the same port without an error. A claim is an abstract Unix address, because those have the scope
    of ports: all users and roots of a network namespace.
    """
    claim = socket.socket(socket.AF_UNIX)
    for port in chain([wanted], repeat(0)):
        with suppress(OSError), socket.create_server(("127.0.0.1", port)) as listener:
            free = int(listener.getsockname()[1])
            claim.bind(f"\0dataplane-demo-{free}")
            # The socket stays open until the process ends.
            claim.detach()
            return free
    raise AssertionError("unreachable")
