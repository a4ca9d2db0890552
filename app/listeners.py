"""Opens what the settings ask for and serves on it: one uvicorn server for each socket, all in one event loop.

Sockets are bound here, so that uvicorn neither loosens the mode of a unix socket nor leaves its file behind.
"""

import contextlib
import os
import socket
import stat
from collections.abc import Iterator, MutableMapping
from dataclasses import dataclass
from pathlib import Path

import uvicorn
from starlette.types import ASGIApp

from app import activation
from app.protocol import Protocol
from app.settings import Settings, SettingsError


@dataclass
class Listener:
    """An open socket and the address that is told to the operator; `path` is the file that goes with it at the end."""

    scheme: str
    socket: socket.socket
    path: str = ""

    @property
    def address(self) -> str:
        if self.scheme == "unix":
            return f"unix://{self.socket.getsockname()}"
        host, port = self.socket.getsockname()[:2]
        return f"{self.scheme}://[{host}]:{port}" if ":" in host else f"{self.scheme}://{host}:{port}"

    def close(self) -> None:
        self.socket.close()
        if self.path:
            Path(self.path).unlink(missing_ok=True)


class Server(uvicorn.Server):
    """Signals are the program's business, so uvicorn leaves them alone."""

    @contextlib.contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


def handed_over(environ: MutableMapping[str, str]) -> list[Listener]:
    """The sockets of the service manager, which stay open in its hands."""
    return [Listener(scheme, opened) for scheme, opened in activation.sockets(environ)]


def passed_over(settings: Settings, served: list[Listener]) -> list[str]:
    """The addresses that the settings name and that none of the sockets handed over listens on."""
    ports = {each.socket.getsockname()[1] for each in served if each.scheme != "unix"}
    named = {"dataplaneapi.port": settings.port, "dataplaneapi.tls.tls_port": settings.tls_port}
    return [f"{key} {port}" for key, port in named.items() if port and port not in ports]


def open_all(settings: Settings) -> list[Listener]:
    """All listeners, or SettingsError and none."""
    opened: list[Listener] = []
    try:
        for scheme in dict.fromkeys(settings.scheme):
            opened.append(_open(scheme, settings))
    except BaseException:
        for each in opened:
            each.close()
        raise
    return opened


def _open(scheme: str, settings: Settings) -> Listener:
    if scheme == "unix":
        return Listener(scheme, _bind_unix(settings.socket_path), settings.socket_path)
    if scheme == "https":
        raise SettingsError("scheme https: TLS is not served by this version; use http or unix")
    return Listener(scheme, _bind(settings.host, settings.port))


def _bind(host: str, port: int) -> socket.socket:
    """IPv4 first, as `localhost` means to most clients."""
    try:
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        family, kind, protocol, _, address = min(found, key=lambda each: each[0] != socket.AF_INET)
        opened = socket.socket(family, kind, protocol)
    except OSError as error:
        raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        opened.bind(address)
    except OSError as error:
        opened.close()
        raise SettingsError(f"cannot listen on {host}:{port}: {error.strerror or error}") from None
    return opened


def _bind_unix(path: str) -> socket.socket:
    """A file left by a server that is gone is removed; one that answers is in use."""
    opened = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if os.path.exists(path) and stat.S_ISSOCK(os.stat(path).st_mode) and not _answers(path):
            os.unlink(path)
        opened.bind(path)
    except OSError as error:
        opened.close()
        raise SettingsError(f"cannot listen on {path}: {error.strerror or error}") from None
    return opened


def _answers(path: str) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        return probe.connect_ex(path) == 0


def server(app: ASGIApp, settings: Settings) -> Server:
    config = uvicorn.Config(
        app,
        http=type("LimitedProtocol", (Protocol,), {"largest_head": settings.max_header_size, "patience": settings.read_timeout}),
        loop="uvloop",
        ws="none",
        lifespan="off",
        interface="asgi3",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=max(1, int(settings.cleanup_timeout)),
        timeout_graceful_shutdown=int(settings.graceful_timeout),
    )
    return Server(config)
