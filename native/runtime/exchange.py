"""One request and everything that comes back, until the other side closes; no stream in between, since answers may be long."""

import asyncio
from typing import cast


class Exchange(asyncio.Protocol):
    """Sends one request and collects what comes back; `closed` is done when nothing more can come.

    Half-closed, since some masters (2.6, 3.0) else forget now and then to close after a long answer.
    """

    def __init__(self, request: bytes, *, half_close: bool) -> None:
        self._request, self._half_close = request, half_close
        self.parts: list[bytes] = []
        self.error: Exception | None = None
        self.closed = asyncio.get_running_loop().create_future()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        # uvloop's transports are none of asyncio's.
        writing = cast(asyncio.WriteTransport, transport)
        writing.write(self._request)
        if self._half_close:
            writing.write_eof()

    def data_received(self, data: bytes) -> None:
        self.parts.append(data)

    def connection_lost(self, error: Exception | None) -> None:
        self.error = error
        if not self.closed.done():
            self.closed.set_result(None)
