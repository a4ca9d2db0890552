"""Accept connections on a listening socket, up to the limit of its listener, with the current certificate.

The Acceptor replaces asyncio's server in uvicorn, which has no limit and cannot change the certificate. Each connection needs a slot, and
the number of slots is the limit. Up to RESERVED further connections are accepted without a slot. Their requests wait for a free slot,
except probes, which are answered at once, so that a supervisor gets an answer while all slots are in use.
"""

import asyncio
import contextlib
import logging
import socket
import ssl
import time
from collections.abc import Callable

logger = logging.getLogger(__name__)
# The most connections to accept before other tasks of the event loop run, and the most connections without a slot.
AT_ONCE, RESERVED = 64, 64
# The time limit of a TLS handshake, and the pause after an error of `accept`.
HANDSHAKE_SECONDS, PAUSE_SECONDS = 10.0, 1.0
# Paths that are answered without a slot and without a password.
PROBE_PATHS = frozenset({"/livez", "/readyz", "/metrics"})
# If RESERVED connections have no slot, the oldest may be closed for a new one after GRACE_SECONDS. POLL_SECONDS is the polling interval.
GRACE_SECONDS, POLL_SECONDS = 1.0, 0.1


class AcceptedConnection:
    """An accepted connection. `has_slot`: whether it has a slot, and thus counts against the limit of the listener.

    The protocol sets two callbacks. `on_slot` is called when the connection gets the slot that it has requested. `on_evicted` is called
    when the connection must be closed.
    """

    __slots__ = ("_acceptor", "has_slot", "is_probe", "is_waiting", "on_evicted", "on_slot", "since")

    def __init__(self, acceptor: "Acceptor", *, has_slot: bool) -> None:
        self._acceptor, self.has_slot, self.is_waiting, self.is_probe = acceptor, has_slot, False, False
        self.since = time.monotonic()
        self.on_slot: Callable[[], object] = bool
        self.on_evicted: Callable[[], object] = bool

    def request(self, *, is_probe: bool) -> bool:
        """Request a slot if the connection has none. Return whether the current request can be served at once.

        If the result is False, `on_slot` or `on_evicted` is called later.
        """
        self.is_probe = is_probe
        if not self.has_slot and not is_probe:
            self.is_waiting = True
            self._acceptor.fill()
        return self.has_slot or is_probe

    def release(self) -> None:
        """Free the slot of the connection. Called at the end of the connection."""
        self._acceptor.release(self)


class Acceptor:
    """Accepts the connections of a listening socket.

    `protocol` creates the protocol of a connection. At the end of the connection, the protocol must call `AcceptedConnection.release`.
    `limit` returns the number of slots, or 0 for no limit. `context` returns the TLS context for the next connection, or None without TLS.
    """

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[AcceptedConnection], asyncio.Protocol],
        limit: Callable[[], int],
        context: Callable[[], ssl.SSLContext | None],
    ) -> None:
        self._socket, self._protocol, self._limit, self._context = listening, protocol, limit, context
        self._loop = asyncio.get_running_loop()
        self._open, self._watching, self._closed = 0, False, False
        # Connections without a slot, oldest first.
        self._without_slot: dict[AcceptedConnection, None] = {}
        self._handshakes: set[asyncio.Task[None]] = set()
        listening.setblocking(False)
        self.watch()

    def close(self) -> None:
        """Stop accepting connections. Connections in the backlog stay there."""
        self._closed = True
        self._pause()

    def drain(self) -> None:
        """Accept the connections in the backlog, and refuse new connections.

        A Unix socket is shut down first, because its backlog can still be accepted afterwards. The shutdown of a TCP socket resets its
        backlog, so the backlog is accepted first. A connection that arrives between the last `accept` and the shutdown is lost. Sockets of
        a service manager are not drained, and lose no connection.
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
        """Wait until no handshake is in progress."""
        await asyncio.gather(*self._handshakes, return_exceptions=True)

    def watch(self) -> None:
        """Assign free slots to waiting requests, and resume accepting connections. Must be called after the limit was raised."""
        self.fill()
        if not self._watching and not self._closed:
            self._watching = True
            self._loop.add_reader(self._socket.fileno(), self._accept_pending)

    def _pause(self) -> None:
        if self._watching:
            self._watching = False
            self._loop.remove_reader(self._socket.fileno())

    def _accept_pending(self) -> None:
        for _ in range(AT_ONCE):
            if self._is_full and len(self._without_slot) >= RESERVED and time.monotonic() - self._oldest().since < GRACE_SECONDS:
                self._pause()
                self._loop.call_later(POLL_SECONDS, self.watch)
                return
            try:
                if not self._accept():
                    return
            except OSError as error:
                logger.error("accepting connections failed; trying again in %g s: %s", PAUSE_SECONDS, error.strerror)
                self._pause()
                self._loop.call_later(PAUSE_SECONDS, self.watch)
                return

    def _accept(self) -> bool:
        """Accept a connection and begin its handshake. Return False if no connection is pending.

        If no slot is free and RESERVED connections have no slot, close the oldest of these connections.
        """
        try:
            connection, _ = self._socket.accept()
        except (BlockingIOError, InterruptedError):
            return False
        except ConnectionAbortedError:
            return True
        connection.setblocking(False)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        accepted = AcceptedConnection(self, has_slot=not self._is_full)
        if accepted.has_slot:
            self._open += 1
        else:
            if len(self._without_slot) >= RESERVED:
                oldest = self._oldest()
                del self._without_slot[oldest]
                oldest.on_evicted()
            self._without_slot[accepted] = None
        task = self._loop.create_task(self._shake_hands(connection, accepted))
        accepted.on_evicted = task.cancel
        self._handshakes.add(task)
        task.add_done_callback(self._handshakes.discard)
        return True

    async def _shake_hands(self, connection: socket.socket, accepted: AcceptedConnection) -> None:
        try:
            context = self._context()
            patience = HANDSHAKE_SECONDS if context else None
            await self._loop.connect_accepted_socket(
                lambda: self._protocol(accepted), connection, ssl=context, ssl_handshake_timeout=patience
            )
        except (OSError, asyncio.CancelledError) as error:
            logger.info("a connection failed before its first request: %s", error or "the handshake took too long")
            connection.close()
            accepted.release()

    @property
    def _is_full(self) -> bool:
        limit = self._limit()
        return bool(limit) and self._open >= limit

    def _oldest(self) -> AcceptedConnection:
        """Return the oldest connection without a slot that does not request a probe. If all request probes, return the oldest of them."""
        return next((each for each in self._without_slot if not each.is_probe), next(iter(self._without_slot)))

    def fill(self) -> None:
        """Assign free slots to requests that wait for one, the oldest connection first."""
        for accepted in [each for each in self._without_slot if each.is_waiting]:
            if self._is_full:
                return
            del self._without_slot[accepted]
            self._open, accepted.has_slot = self._open + 1, True
            accepted.on_slot()

    def release(self, accepted: AcceptedConnection) -> None:
        """Free the slot of a connection that has been closed, and assign the slot to a waiting request."""
        if accepted.has_slot:
            self._open -= 1
            accepted.has_slot = False
        self._without_slot.pop(accepted, None)
        self.watch()
