"""Open listening sockets. uvicorn does not do this, because it would widen the mode of a Unix socket and leave its file behind.

For each new connection, the files of certificate, key, client CA and CRLs are checked for changes. After a change, the next handshake uses
the new files. Open connections are not affected.
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
from dataplaneapi.server.endpoint import Endpoint, endpoint_of_scheme
from dataplaneapi.settings.table import Settings, SettingsError
from haproxy_native.disk.atomic import Stamp, stamp

logger = logging.getLogger(__name__)
# The ciphers of TLS 1.2: forward secrecy and authenticated encryption only. OpenSSL chooses the ciphers of TLS 1.3.
CIPHERS = (
    "ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384:ECDHE-ECDSA-AES128-GCM-SHA256:ECDHE-RSA-AES128-GCM-SHA256:"
    "ECDHE-ECDSA-CHACHA20-POLY1305:ECDHE-RSA-CHACHA20-POLY1305"
)
CURVE = "prime256v1"


class Identity:
    """The TLS files of a listener: certificate, key, client CA and CRLs.

    The constructor raises SettingsError if the files cannot be used.
    """

    def __init__(self, certificate: str, key: str, authority: str = "", revoked: str = "") -> None:
        self._files = (certificate, key, authority, revoked)
        self._seen = self._stamps()
        try:
            self._context = _context(*self._files)
        except (OSError, ValueError) as error:
            raise SettingsError(f"TLS cannot be served: {_reason(self._files, error)}") from None

    def context(self) -> ssl.SSLContext:
        """Return the TLS context for the next connection.

        If changed files cannot be used, log the error and return the previous context.
        """
        if (stamps := self._stamps()) != self._seen:
            self._seen = stamps
            try:
                self._context = _context(*self._files)
            except (OSError, ValueError) as error:
                logger.error("reading the changed certificate failed; the former one stays in use: %s", _reason(self._files, error))
            else:
                logger.info("reread certificate, key, client CA and CRLs of the listener: %s", self._files[0])
        return self._context

    def _stamps(self) -> list[Stamp | None]:
        return [stamp(file) for file in self._files]


def _context(certificate: str, key: str, authority: str, revoked: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers(CIPHERS)
    context.set_ecdh_curve(CURVE)
    context.set_alpn_protocols(["http/1.1"])
    # Without a password, OpenSSL would prompt for that of an encrypted key on the terminal.
    context.load_cert_chain(certificate, key, password=lambda: b"")
    if authority:
        context.load_verify_locations(authority)
        context.verify_mode = ssl.CERT_REQUIRED
    if revoked:
        context.load_verify_locations(revoked)
    lists = context.cert_store_stats()["crl"]
    if revoked and not lists:
        raise ValueError(f"{revoked} contains no CRL")
    if lists:
        # As for HAProxy's crl-file, each authority of the chain needs a CRL that has not expired. The file of the client CA may contain it.
        context.verify_flags |= ssl.VerifyFlags.VERIFY_CRL_CHECK_CHAIN
    return context


def _reason(files: tuple[str, str, str, str], error: Exception) -> str:
    """Return why the TLS files cannot be used. The text names the first unreadable file or, if all are readable, all files."""
    for file in filter(None, files):
        try:
            with open(file, "rb"):
                pass
        except OSError as unreadable:
            return f"{file}: {unreadable.strerror}"
    return f"{', '.join(filter(None, files))}: {error}"


@dataclass
class Listener:
    """An open socket, and the options of its endpoint."""

    endpoint: Endpoint
    socket: socket.socket
    # The file of a Unix socket, which is removed when the listener closes. Empty: there is no file to remove.
    path: str = ""
    # Whether the service manager has the socket open too.
    is_inherited: bool = False
    _identity: Identity | None = field(init=False)
    _inode: int = field(init=False)

    def __post_init__(self) -> None:
        self._identity = self.identity(self.endpoint)
        self._inode = os.stat(self.path).st_ino if self.path else 0

    def identity(self, endpoint: Endpoint) -> Identity | None:
        """Return the TLS files that an endpoint needs, or None without TLS. Raises SettingsError if the files cannot be used."""
        if endpoint.scheme != "https":
            return None
        return Identity(endpoint.certificate, endpoint.key, endpoint.authority, endpoint.revoked)

    def apply(self, endpoint: Endpoint, identity: Identity | None) -> None:
        """Use the options of `endpoint`, which has the same address, for future connections."""
        self.endpoint, self._identity = endpoint, identity
        if self.path and endpoint.mode is not None:
            os.chmod(self.path, endpoint.mode)

    def context(self) -> ssl.SSLContext | None:
        """Return the TLS context for the next connection, or None without TLS."""
        return self._identity.context() if self._identity else None

    @property
    def address(self) -> str:
        scheme = self.endpoint.scheme
        if scheme == "unix":
            return f"unix://{self.socket.getsockname()}"
        host, port = self.socket.getsockname()[:2]
        return f"{scheme}://[{host}]:{port}" if ":" in host else f"{scheme}://{host}:{port}"

    def close(self) -> None:
        """Close the socket, and remove its file unless another server has bound its own socket to the same path."""
        self.socket.close()
        with contextlib.suppress(FileNotFoundError):
            if self.path and os.stat(self.path).st_ino == self._inode:
                os.unlink(self.path)


def inherited_listeners(settings: Settings, environ: MutableMapping[str, str]) -> list[Listener]:
    """Return listeners for the sockets from the service manager, with the options from the settings. Raises SettingsError."""
    return [Listener(endpoint_of_scheme(scheme, settings), opened, is_inherited=True) for scheme, opened in activation.sockets(environ)]


def unserved_addresses(endpoints: Iterable[Endpoint], served: list[Listener]) -> list[str]:
    """Return the addresses of the endpoints for whose ports the service manager has passed no socket."""
    ports = {listener.socket.getsockname()[1] for listener in served if listener.endpoint.scheme != "unix"}
    return [f"{each.scheme}://{each.host}:{each.port}" for each in endpoints if each.port and each.port not in ports]


def open_all(endpoints: Iterable[Endpoint]) -> list[Listener]:
    """Open the listeners of all endpoints. If one cannot be opened, close the others and raise SettingsError."""
    listeners: list[Listener] = []
    try:
        for endpoint in endpoints:
            is_unix = endpoint.scheme == "unix"
            opened = open_unix(endpoint.path, endpoint.mode) if is_unix else _open_tcp(endpoint.host, endpoint.port)
            try:
                listeners.append(Listener(endpoint, opened, endpoint.path))
            except OSError as error:
                opened.close()
                raise SettingsError(f"cannot listen on {endpoint.path}: {error.strerror}") from None
            except SettingsError:
                opened.close()
                raise
    except BaseException:
        for listener in listeners:
            listener.close()
        raise
    return listeners


def _open_tcp(host: str, port: int) -> socket.socket:
    """Bind a TCP socket. Prefer an IPv4 address of the host, because most clients expect that for `localhost`. Raises SettingsError."""
    try:
        # Bytes, because `getaddrinfo` would encode a text with the codec `idna`, whose import takes 4 ms.
        name = host.encode() if host.isascii() else host
        addresses = socket.getaddrinfo(name or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = min(addresses, key=lambda row: row[0] != socket.AF_INET)
        opened = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    # `idna` cannot encode a label that is too long for DNS.
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
    """Bind a Unix socket to a path. `mode`: the mode of the socket file, or None for the mode that the umask permits.

    The file never has a wider mode, not even briefly. The socket file of a server that has ended is replaced. Raises SettingsError, for
    example if another process listens on the path.
    """
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode):
            with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
                probe.setblocking(False)
                # No process listens on the socket. A full backlog or a lack of permission causes other errors.
                is_abandoned = probe.connect_ex(path) == errno.ECONNREFUSED
            if is_abandoned:
                os.unlink(path)
        if mode is not None:
            # Linux creates the file with the mode of the socket, less the umask.
            os.fchmod(opened.fileno(), mode)
        opened.bind(path)
        if mode is not None and stat.S_IMODE(os.stat(path).st_mode) != mode:
            os.chmod(path, mode)
    except OSError as error:
        opened.close()
        raise SettingsError(f"cannot listen on {path}: {error.strerror or error}") from None
    return opened
