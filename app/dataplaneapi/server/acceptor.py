"""Accepts connections on a listening socket, as many as its listener allows, with the certificate that is current then.

It stands where uvicorn has asyncio's own server, which can do neither. Connections beyond the limit are taken, too, RESERVED of
them: their requests wait for a slot, and probes need none, so that a supervisor is answered when all slots are held.
"""

import asyncio
import contextlib
import logging
import socket
import ssl
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)
AT_ONCE, HANDSHAKE_SECONDS, PAUSE_SECONDS, RESERVED = 64, 10.0, 1.0, 64
# Answered without a slot and without a password.
PROBE_PATHS = frozenset({"/livez", "/readyz", "/metrics"})
# How long a connection beyond the limit may stay when others want its slot, and how often is looked for one that has to go.
GRACE_SECONDS, LOOK_SECONDS = 1.0, 0.1


class ConnectionSlot:
    """What one connection may: `taken` when it is among those that the limit counts.

    The protocol sets `given`, called when a slot that it asked for is free, and `evicted`, called when it has to go.
    """

    __slots__ = ("_acceptor", "asks", "evicted", "given", "is_probe", "since", "taken")

    def __init__(self, acceptor: "Acceptor", *, taken: bool) -> None:
        self._acceptor, self.taken, self.asks, self.is_probe = acceptor, taken, False, False
        self.since = time.monotonic()
        self.given: Callable[[], object] = bool
        self.evicted: Callable[[], object] = bool

    def ask(self, *, is_probe: bool) -> bool:
        """Whether a request can be served now; if not, `given` or `evicted` follows."""
        self.is_probe = is_probe
        if not self.taken and not is_probe:
            self.asks = True
            self._acceptor.fill()
        return self.taken or is_probe

    def leave(self) -> None:
        self._acceptor.left(self)


class Acceptor:
    """`protocol` makes what serves a connection, of its slot, which it leaves at the end; `limit` counts connections, 0: any number."""

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[ConnectionSlot], asyncio.Protocol],
        limit: Callable[[], int],
        context: Callable[[], ssl.SSLContext | None],
    ) -> None:
        self._socket, self._protocol, self._limit, self._context = listening, protocol, limit, context
        self._loop = asyncio.get_running_loop()
        self._open, self._watching, self._closed = 0, False, False
        # Those beyond the limit, the oldest first.
        self._beyond: dict[ConnectionSlot, None] = {}
        self._greetings: set[asyncio.Task[None]] = set()
        listening.setblocking(False)
        self.watch()

    def close(self) -> None:
        """No more connections; those that wait stay with the socket."""
        self._closed = True
        self._rest()

    def drain(self) -> None:
        """Accepts the connections that the kernel holds, and refuses new ones.

        A unix socket refuses first and still hands over what it holds. A TCP socket resets what it holds, so that a connection that arrives
        between the last `accept` and the `shutdown` is lost. Sockets of a service manager lose none.
        """
        if self._closed:
            return
        self.close()
        is_unix = self._socket.family == socket.AF_UNIX
        if is_unix:
            self._socket.shutdown(socket.SHUT_RD)
        with contextlib.suppress(OSError):
            while self._accept():
                pass
        if not is_unix:
            self._socket.shutdown(socket.SHUT_RD)

    async def wait_closed(self) -> None:
        """Waits until no handshake is in progress."""
        await asyncio.gather(*self._greetings, return_exceptions=True)

    def watch(self) -> None:
        """Goes on to take connections, as after the limit was raised."""
        self.fill()
        if not self._watching and not self._closed:
            self._watching = True
            self._loop.add_reader(self._socket.fileno(), self._arrived)

    def _rest(self) -> None:
        if self._watching:
            self._watching = False
            self._loop.remove_reader(self._socket.fileno())

    def _arrived(self) -> None:
        for _ in range(AT_ONCE):
            if not self._has_room():
                self._rest()
                self._loop.call_later(LOOK_SECONDS, self.watch)
                return
            try:
                if not self._accept():
                    return
            except OSError as error:
                logger.error("no connection can be taken for %g s: %s", PAUSE_SECONDS, error.strerror)
                self._rest()
                self._loop.call_later(PAUSE_SECONDS, self.watch)
                return

    def _accept(self) -> bool:
        """Whether there was a connection."""
        try:
            connection, _ = self._socket.accept()
        except (BlockingIOError, InterruptedError):
            return False
        except ConnectionAbortedError:
            return True
        self._greet(connection)
        return True

    @property
    def _is_full(self) -> bool:
        limit = self._limit()
        return bool(limit) and self._open >= limit

    def _greet(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        slot = ConnectionSlot(self, taken=not self._is_full)
        if slot.taken:
            self._open += 1
        else:
            if len(self._beyond) >= RESERVED:
                oldest = self._oldest()
                del self._beyond[oldest]
                oldest.evicted()
            self._beyond[slot] = None
        task = self._loop.create_task(self._connect(connection, slot))
        slot.evicted = task.cancel
        self._greetings.add(task)
        task.add_done_callback(self._greetings.discard)

    async def _connect(self, connection: socket.socket, slot: ConnectionSlot) -> None:
        try:
            context = self._context()
            patience = HANDSHAKE_SECONDS if context else None
            await self._loop.connect_accepted_socket(lambda: self._protocol(slot), connection, ssl=context, ssl_handshake_timeout=patience)
        except (OSError, asyncio.CancelledError) as error:
            logger.info("a connection came to nothing: %s", error or "it took too long")
            connection.close()
            slot.leave()

    def _has_room(self) -> bool:
        """Whether one more can be taken, if the oldest beyond the limit has to go for it."""
        return not self._is_full or len(self._beyond) < RESERVED or time.monotonic() - self._oldest().since >= GRACE_SECONDS

    def _oldest(self) -> ConnectionSlot:
        """Returns the oldest connection beyond the limit, probes last."""
        return next((slot for slot in self._beyond if not slot.is_probe), next(iter(self._beyond)))

    def fill(self) -> None:
        """Gives free slots to the requests that wait for one."""
        for slot in [slot for slot in self._beyond if slot.asks]:
            if self._is_full:
                return
            del self._beyond[slot]
            self._open, slot.taken = self._open + 1, True
            slot.given()

    def left(self, slot: ConnectionSlot) -> None:
        if slot.taken:
            self._open -= 1
            slot.taken = False
        self._beyond.pop(slot, None)
        self.watch()
