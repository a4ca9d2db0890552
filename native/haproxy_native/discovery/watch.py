"""Blocking queries of Consul: the agent answers them when something has changed.

What they tell is that there is something to see, never what. Looks go on without them, so that an agent that answers at once, or never, or
that does not know all of its changes, costs no more than the time until the next one.
"""

import asyncio
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress

from haproxy_native.background import Background
from haproxy_native.discovery.services import SourceFailed

# Seconds that a query may stay open, and those between two of them.
OPEN, BETWEEN = 60.0, 1.0
# Asks for a path with an index, empty for none, and returns the index of the answer, empty where it has none. Raises SourceFailed.
Ask = Callable[[str, str], Awaitable[str]]


class Watch:
    """`retry`: seconds until an agent that failed is asked again; that it answers again is a change."""

    def __init__(self, ask: Ask, paths: Sequence[str], retry: float) -> None:
        self._ask, self._paths, self._retry = ask, paths, retry
        self._changed = asyncio.Event()
        self._background: Background | None = None

    async def changed(self, seconds: float) -> None:
        """Returns when something has changed since the last time, or after so many seconds."""
        if self._background is None:
            self._background = Background("watching a Consul agent")
            for path in self._paths:
                self._background.begin(self._watch(path))
        with suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._changed.wait()
        self._changed.clear()

    async def stop(self) -> None:
        if self._background:
            await self._background.stop()

    async def _watch(self, path: str) -> None:
        index = ""
        while True:
            asked, known = time.monotonic(), index
            try:
                index = await self._ask(path, known)
            except SourceFailed:
                index = ""
                await asyncio.sleep(self._retry)
                continue
            if index != known:
                self._changed.set()
            blocks = index and (index != known or time.monotonic() - asked > OPEN / 2)
            await asyncio.sleep(BETWEEN if blocks else OPEN)
