"""One request and its whole answer, up to the end of the connection."""

import asyncio
import re
from typing import Protocol, cast

# What is kept of an answer that a sink takes in pieces: enough to recognise a refusal.
BEGINNING = 2000
# The whole answer of a master without such a process; it waits for the client to close the connection.
NO_PROCESS = re.compile(rb"Can't (?:find|connect to) the target (?:PID|CLI|process)", re.IGNORECASE)


class Sink(Protocol):
    """Takes an answer piece by piece while it comes; `start` for every attempt."""

    def start(self) -> None: ...

    def take(self, data: bytes) -> None: ...


class RuntimeExchange(asyncio.Protocol):
    """Sends one request and collects what comes back; `closed` is done when nothing more can come.

    Half-closed when the answer begins, since some masters (2.6, 3.0) else forget now and then to close after a long one. Not before: of
    a connection that is half-closed when it refuses a process, a master (2.8 to 3.4) forgets about every twentieth for good, and it takes
    only ten. With a sink only the beginning and the last two bytes of the answer are kept.
    """

    def __init__(self, request: bytes, *, half_close: bool, sink: Sink | None = None) -> None:
        self._request, self._half_close, self._taker = request, half_close, sink
        self.parts: list[bytes] = []
        self.error: Exception | None = None
        self.closed = asyncio.get_running_loop().create_future()
        if sink:
            sink.start()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's.
        self._transport = cast(asyncio.WriteTransport, transport)
        self._transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        if self._half_close:
            self._half_close = False
            if NO_PROCESS.match(data):
                self.parts.append(data)
                return self._end(None)
            self._transport.write_eof()
        if self._taker is None:
            self.parts.append(data)
            return
        self.parts = [self.parts[0] if self.parts else data[:BEGINNING], (b"".join(self.parts[1:]) + data)[-2:]]
        try:
            self._taker.take(data)
        except Exception as error:  # noqa: BLE001 - raised to those who wait
            self._end(error)
            self._transport.abort()

    def connection_lost(self, error: Exception | None) -> None:
        self.error = error
        self._end(None)

    def _end(self, error: Exception | None) -> None:
        if self.closed.done():
            return
        if error:
            self.closed.set_exception(error)
        else:
            self.closed.set_result(None)
