"""Sockets bound here rather than by uvicorn, which would loosen the mode of a unix socket and leave its file behind.

The files of TLS are looked at with each connection: when certificate, key or client CA have changed, the next handshake is made with the
new ones; connections that are open stay as they are. So are lists of revoked client certificates.
"""

import contextlib
import errno
import logging
import os
import socket
import ssl
import stat
from collections.abc import Iterable, MutableMapping
from dataclasses import dataclass, field

from dataplaneapi.host import activation
from dataplaneapi.server.endpoint import Endpoint, one_of
from dataplaneapi.settings.table import Settings, SettingsError
from haproxy_native.disk.atomic import Stamp, stamp

logger = logging.getLogger(__name__)
# For TLS 1.2: forward secrecy and authenticated encryption only. OpenSSL chooses those of TLS 1.3.
CIPHERS = (
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
)
CURVE = "prime256v1"


class Identity:
    """Certificate, key, client CA and CRLs of a listener, as they are in their files. Raises SettingsError when they cannot be used."""

    def __init__(self, certificate: str, key: str, authority: str = "", revoked: str = "") -> None:
        self._files = (certificate, key, authority, revoked)
        self._seen = self._stamps()
        try:
            self._context = _context(*self._files)
        except (OSError, ValueError) as error:
            raise SettingsError(f"TLS cannot be served: {_reason(self._files, error)}") from None

    def context(self) -> ssl.SSLContext:
        """Returns the context for the next connection; unusable files, as during a rotation, are logged and the former context stays."""
        if (stamps := self._stamps()) != self._seen:
            self._seen = stamps
            try:
                self._context = _context(*self._files)
            except (OSError, ValueError) as error:
                logger.error("the former certificate stays in use: %s", _reason(self._files, error))
            else:
                logger.info("certificate, key, client CA and CRLs of the listener were read again: %s", self._files[0])
        return self._context

    def _stamps(self) -> list[Stamp | None]:
        return [stamp(file) for file in self._files]


def _context(certificate: str, key: str, authority: str, revoked: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(CIPHERS)
    context.set_ecdh_curve(CURVE)
    context.set_alpn_protocols(["http/1.1"])
    # An encrypted key must not make OpenSSL ask on the terminal.
    context.load_cert_chain(certificate, key, password=lambda: b"")
    if authority:
        context.load_verify_locations(authority)
        context.verify_mode = ssl.CERT_REQUIRED
    if revoked:
        context.load_verify_locations(revoked)
    lists = context.cert_store_stats()["crl"]
    if revoked and not lists:
        raise ValueError(f"{revoked} holds no CRL")
    if lists:
        # As HAProxy's crl-file: each authority of the chain needs a list that has not expired. The file of authorities may hold it.
        context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_CHAIN
    return context


def _reason(files: tuple[str, str, str, str], error: Exception) -> str:
    """OpenSSL does not tell which file it means."""
    for file in filter(None, files):
        try:
            with open(file, "rb"):
                pass
        except OSError as unreadable:
            return f"{file}: {unreadable.strerror}"
    return f"{', '.join(filter(None, files))}: {error}"


@dataclass
class Listener:
    """An open socket and what it is to be; `path` is the file that goes with it at the end. `kept`: another process has it, too."""

    endpoint: Endpoint
    socket: socket.socket
    path: str = ""
    kept: bool = False
    _identity: Identity | None = field(init=False)
    _inode: int = field(init=False)

    def __post_init__(self) -> None:
        self._identity = self.identity(self.endpoint)
        self._inode = os.stat(self.path).st_ino if self.path else 0

    def identity(self, endpoint: Endpoint) -> Identity | None:
        """What it shows in handshakes when it is that endpoint; SettingsError when its files cannot be used."""
        if endpoint.scheme != "https":
            return None
        return Identity(endpoint.certificate, endpoint.key, endpoint.authority, endpoint.revoked)

    def become(self, endpoint: Endpoint, identity: Identity | None) -> None:
        """Takes over all but the place, for the connections that come."""
        self.endpoint, self._identity = endpoint, identity
        if self.path and endpoint.mode is not None:
            os.chmod(self.path, endpoint.mode)

    def context(self) -> ssl.SSLContext | None:
        """Returns the TLS context for the next connection; None without TLS."""
        return self._identity.context() if self._identity else None

    @property
    def address(self) -> str:
        scheme = self.endpoint.scheme
        if scheme == "unix":
            return f"unix://{self.socket.getsockname()}"
        host, port = self.socket.getsockname()[:2]
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def close(self) -> None:
        """Another server may be at the path already: its file stays."""
        self.socket.close()
        with contextlib.suppress(FileNotFoundError):
            if self.path and os.stat(self.path).st_ino == self._inode:
                os.unlink(self.path)


def handed_over(settings: Settings, environ: MutableMapping[str, str]) -> list[Listener]:
    """The sockets of the service manager, which stay open in its hands; each gets the options that the settings have for its scheme."""
    return [Listener(one_of(scheme, settings), opened, kept=True) for scheme, opened in activation.sockets(environ)]


def passed_over(wanted: Iterable[Endpoint], served: list[Listener]) -> list[str]:
    """The addresses that the settings name and that none of the sockets handed over listens on."""
    ports = {listener.socket.getsockname()[1] for listener in served if listener.endpoint.scheme != "unix"}
    return [f"{endpoint.scheme}://{endpoint.host}:{endpoint.port}" for endpoint in wanted if endpoint.port and endpoint.port not in ports]


def open_all(wanted: Iterable[Endpoint]) -> list[Listener]:
    """All listeners, or SettingsError and none."""
    opened: list[Listener] = []
    try:
        for endpoint in wanted:
            opened.append(_open(endpoint))
    except BaseException:
        for listener in opened:
            listener.close()
        raise
    return opened


def _open(endpoint: Endpoint) -> Listener:
    if endpoint.scheme == "unix":
        return Listener(endpoint, open_unix(endpoint.path, endpoint.mode), endpoint.path)
    opened = _bind(endpoint.host, endpoint.port)
    try:
        return Listener(endpoint, opened)
    except SettingsError:
        opened.close()
        raise


def _bind(host: str, port: int) -> socket.socket:
    """IPv4 first, as `localhost` means to most clients."""
    try:
        # A text would be encoded by a codec that takes 4 ms to import.
        name = host.encode() if host.isascii() else host
        addresses = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = min(addresses, key=lambda row: row[0] != socket.AF_INET)
        opened = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    # A label that is too long has no form for DNS.
    except ValueError as error:
        raise SettingsError(f"cannot listen on {host}:{port}: {error}") from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
    except OSError as error:
        opened.close()
        raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return opened


def open_unix(path: str, mode: int | None) -> socket.socket:
    """Binds a socket to a path, with a mode, by default that of the umask. At no time the file allows more.

    A file left by a server that is gone is removed. Raises SettingsError, also for one that is in use.
    """
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode) and _is_abandoned(path):
            os.unlink(path)
        if mode is not None:
            # Linux makes the file with the mode of the socket, less the umask.
            os.fchmod(opened.fileno(), mode)
        opened.bind(path)
        if mode is not None and stat.S_IMODE(os.stat(path).st_mode) != mode:
            os.chmod(path, mode)
    except OSError as error:
        opened.close()
        raise SettingsError(f"cannot listen on {path}: {error.strerror or error}") from None
    return opened


def _is_abandoned(path: str) -> bool:
    """Return whether no process has the socket. One of another user, or with a full backlog, fails otherwise."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.setblocking(False)
        return probe.connect_ex(path) == errno.ECONNREFUSED
