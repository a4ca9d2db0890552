"""Takes connections off a listening socket: as many as its listener allows, each with the certificate of that moment.

It stands where uvicorn has asyncio's own server, which can do neither.
"""

import asyncio
import logging
import socket
import ssl
from collections.abc import Callable

logger = logging.getLogger(__name__)
AT_ONCE, HANDSHAKE_SECONDS, PAUSE_SECONDS = 64, 10.0, 1.0


class Acceptor:
    """`protocol` makes what serves a connection and is given what to call at its end; `limit` counts connections, 0 for any number."""

    def __init__(
        self,
        listening: socket.socket,
        protocol: Callable[[Callable[[], None]], asyncio.Protocol],
        limit: Callable[[], int],
        context: Callable[[], ssl.SSLContext | None],
    ) -> None:
        self._socket, self._protocol, self._limit, self._context = listening, protocol, limit, context
        self._loop = asyncio.get_running_loop()
        self._open, self._watching, self._closed = 0, False, False
        self._greetings: set[asyncio.Task[None]] = set()
        listening.setblocking(False)
        self.watch()

    def close(self) -> None:
        """No more connections; those that wait stay with the socket."""
        self._closed = True
        self._rest()
        for each in self._greetings:
            each.cancel()

    async def wait_closed(self) -> None:
        await asyncio.gather(*self._greetings, return_exceptions=True)

    def watch(self) -> None:
        """Goes on to take connections, as after the limit was raised."""
        if not self._watching and not self._closed:
            self._watching = True
            self._loop.add_reader(self._socket.fileno(), self._arrived)

    def _rest(self) -> None:
        if self._watching:
            self._watching = False
            self._loop.remove_reader(self._socket.fileno())

    def _arrived(self) -> None:
        for _ in range(AT_ONCE):
            if (limit := self._limit()) and self._open >= limit:
                self._rest()
                return
            try:
                connection, _ = self._socket.accept()
            except (BlockingIOError, InterruptedError, ConnectionAbortedError):
                return
            except OSError as error:
                logger.error("no connection can be taken for %g s: %s", PAUSE_SECONDS, error.strerror)
                self._rest()
                self._loop.call_later(PAUSE_SECONDS, self.watch)
                return
            self._greet(connection)

    def _greet(self, connection: socket.socket) -> None:
        connection.setblocking(False)
        if connection.family != socket.AF_UNIX:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._open += 1
        task = self._loop.create_task(self._connect(connection))
        self._greetings.add(task)
        task.add_done_callback(self._greetings.discard)

    async def _connect(self, connection: socket.socket) -> None:
        protocol = self._protocol(self._ended)
        try:
            context = self._context()
            patience = HANDSHAKE_SECONDS if context else None
            await self._loop.connect_accepted_socket(lambda: protocol, connection, ssl=context, ssl_handshake_timeout=patience)
        except (OSError, asyncio.CancelledError) as error:
            logger.info("a connection came to nothing: %s", error or "it took too long")
            connection.close()
            self._ended()

    def _ended(self) -> None:
        self._open -= 1
        self.watch()
