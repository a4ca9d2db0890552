"""Run servers that record health checks: their address and port, and the first bytes (none, TLS, PROXY protocol, or text)."""

import contextlib
import selectors
import socket
import threading
import time
from collections.abc import Sequence
from typing import Self

TLS_HANDSHAKE = 0x16
ANSWERS = {b"GET ": b"HTTP/1.0 200 OK\r\n\r\n", b"": b"up\n"}
# How many seconds a client may take to send its first bytes.
PATIENCE = 0.05
Visit = tuple[str, int, str]


def said(data: bytes) -> str:
    """Describe the first bytes of a check: the beginning of a text, or for TLS whether it names a server and protocols."""
    if data[:1] != bytes([TLS_HANDSHAKE]):
        return data[:8].decode("latin-1")
    return "TLS" + " for a name" * (b"named" in data) + " with ALPN" * (b"http/1.1" in data or b"\x02h2" in data)


class Witness:
    """Listens on each address, on the same free ports. A visit names a port by its index in `ports`."""

    def __init__(self, addresses: Sequence[str], ports: int) -> None:
        self._selector = selectors.DefaultSelector()
        self._listeners: list[socket.socket] = []
        self.ports: list[int] = []
        while len(self.ports) < ports:
            self._listen(addresses)
        self._visits: set[Visit] = set()
        self._lock = threading.Lock()
        self._stopping = False
        self._open: dict[socket.socket, tuple[float, Visit]] = {}
        self._thread = threading.Thread(target=self._serve)

    def _listen(self, addresses: Sequence[str]) -> None:
        first = socket.create_server((addresses[0], 0), backlog=200)
        port = first.getsockname()[1]
        try:
            opened = [first, *(socket.create_server((address, port), backlog=200) for address in addresses[1:])]
        except OSError:
            return first.close()
        for listener in opened:
            listener.setblocking(False)
            self._selector.register(listener, selectors.EVENT_READ)
        self._listeners += opened
        self.ports.append(port)

    def seen(self, seconds: float) -> set[Visit]:
        """Return the visits during the next seconds."""
        # Visits that arrive within this time may have begun before this call.
        time.sleep(PATIENCE)
        with self._lock:
            self._visits.clear()
        time.sleep(seconds)
        with self._lock:
            return set(self._visits)

    def _serve(self) -> None:
        while not self._stopping:
            for key, _ in self._selector.select(PATIENCE / 5):
                assert isinstance(key.fileobj, socket.socket)
                if key.fileobj in self._listeners:
                    self._accept(key.fileobj)
                else:
                    self._read(key.fileobj)
            now = time.monotonic()
            for connection in [each for each, (deadline, _) in self._open.items() if deadline < now]:
                self._close(connection, b"")

    def _accept(self, listener: socket.socket) -> None:
        try:
            connection, _ = listener.accept()
        except OSError:
            return
        address, port = listener.getsockname()[:2]
        connection.setblocking(False)
        self._open[connection] = time.monotonic() + PATIENCE, (address, self.ports.index(port), "")
        self._selector.register(connection, selectors.EVENT_READ)

    def _read(self, connection: socket.socket) -> None:
        try:
            data = connection.recv(4096)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        self._close(connection, data)

    def _close(self, connection: socket.socket, data: bytes) -> None:
        _, (address, port, _) = self._open.pop(connection)
        with self._lock:
            self._visits.add((address, port, said(data)))
        self._selector.unregister(connection)
        with contextlib.suppress(OSError):
            connection.send(next(answer for beginning, answer in ANSWERS.items() if data.startswith(beginning)))
        connection.close()

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stopping = True
        self._thread.join()
        for each in (*self._listeners, *self._open):
            each.close()
        self._selector.close()
