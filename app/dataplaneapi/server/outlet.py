"""Wraps the transport of a response: all that it writes and closes goes through here."""

import asyncio
from collections.abc import Callable

# A longer reply is not recorded.
LARGEST = 1 << 16


class Outlet:
    """`close` is called in the place of the transport's own, by the answer that is the last."""

    def __init__(self, transport: asyncio.Transport, close: Callable[[], None]) -> None:
        self.write, self.is_closing, self.close = transport.write, transport.is_closing, close


class RecordingOutlet:
    """One that remembers what was written in reply to a request that arrived as one packet."""

    def __init__(self, outlet: Outlet, packet: bytes) -> None:
        self.packet, self.is_closing, self.close = packet, outlet.is_closing, outlet.close
        self._write, self._size = outlet.write, 0
        self._written: list[bytes] = []

    def write(self, data: bytes) -> None:
        self._size += len(data)
        if self._size <= LARGEST:
            self._written.append(data)
        else:
            self._written.clear()
        self._write(data)

    def forget(self) -> None:
        """Remembers nothing, whatever is written."""
        self._size = LARGEST + 1
        self._written.clear()

    @property
    def written(self) -> bytes:
        """Empty when it is more than LARGEST."""
        return b"".join(self._written)
