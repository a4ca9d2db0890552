"""Listen to events of the worker: the ring `dpapi` (HAProxy 3.2), read through the master's socket.

A worker that exits closes the connection. But a worker that a reload has replaced does not exit while a client reads its ring. So the owner
of a listener calls `leave_worker` after a reload, and the listener connects to the new worker. Each connection reads the ring from its
beginning, so the listener skips events that are not later than the last one that it has received.
"""

import asyncio
import logging
import re
from collections.abc import AsyncIterator, Callable
from contextlib import suppress
from datetime import datetime
from typing import NamedTuple

from haproxy_native.background import Background
from haproxy_native.runtime.client import Runtime

log = logging.getLogger(__name__)
# `@@1` relays the whole connection to the worker; `@1` does not permit a command that never ends.
REQUEST = b"@@1 set severity-output number;show events dpapi -w -0\n"
CONNECTING = 3.0
FIRST_PAUSE, LONGEST_PAUSE = 0.1, 60.0
# Seconds without an event after which the listener reconnects, because it may still be connected to a worker that has been replaced.
SILENCE = 600.0
LONGEST_EVENT = 1 << 20
_REFUSED = re.compile(r"\[[0-3]\]:")


class HAProxyEvent(NamedTuple):
    at: datetime
    # The first word of the text.
    category: str
    text: str


class NoEvents(Exception):
    """Raised if HAProxy refuses the stream, or has ended it with a message."""


class EventListener:
    """Calls `hear` with each event of the worker once, in order. `hear` must neither block nor raise."""

    def __init__(self, runtime: Runtime, hear: Callable[[HAProxyEvent], None], *, longest_pause: float = LONGEST_PAUSE) -> None:
        self.runtime, self._hear, self._longest = runtime, hear, longest_pause
        self._last: datetime | None = None
        self._was_there = False
        # The connection; None while there is none.
        self._writer: asyncio.StreamWriter | None = None
        self._background = Background("hearing HAProxy's events")

    def start(self) -> None:
        self._background.begin(self._run())

    async def stop(self) -> None:
        await self._background.stop()

    def leave_worker(self) -> None:
        """Close the connection, so that the listener connects to the current worker."""
        if self._writer:
            self._writer.close()

    async def _run(self) -> None:
        pause, is_reported = 0.0, False
        while True:
            await asyncio.sleep(pause)
            try:
                async for event in self._events():
                    pause, is_reported = 0.0, False
                    if self._last is None or event.at > self._last:
                        self._last = event.at
                        self._hear(event)
                pause = FIRST_PAUSE if self._was_there else self._longest
            except (NoEvents, OSError, ValueError) as error:
                pause = min(max(pause * 2, FIRST_PAUSE), self._longest)
                log.log(
                    logging.DEBUG if is_reported else logging.WARNING,
                    "reading HAProxy's events failed: %s",
                    error,
                )
                is_reported = True

    async def _events(self) -> AsyncIterator[HAProxyEvent]:
        """Yield events until the worker closes the connection. Yield nothing if HAProxy has no such command, or there is no master."""
        master, self._was_there = self.runtime.configured_master, False
        if master is None or not self.runtime.capabilities.may_report_events:
            return
        async with asyncio.timeout(CONNECTING):
            reader, writer = await asyncio.open_unix_connection(master.socket_path, limit=LONGEST_EVENT)
        self._writer = writer
        try:
            writer.write(REQUEST)
            await writer.drain()
            self._was_there = True
            while True:
                async with asyncio.timeout(SILENCE):
                    message = await reader.readuntil(b"\0")
                yield event(message)
        except TimeoutError:
            return
        except asyncio.IncompleteReadError as end:
            if text := end.partial.decode(errors="replace").strip():
                raise NoEvents(text[:200]) from None
        except asyncio.LimitOverrunError:
            raise NoEvents(f"an event of more than {LONGEST_EVENT} bytes") from None
        finally:
            self._writer = None
            writer.close()
            with suppress(OSError):
                await writer.wait_closed()


def event(message: bytes) -> HAProxyEvent:
    """Parse one message, which ends in NUL. Raises NoEvents for a refusal, and ValueError for any other text that is no event."""
    text = message.decode(errors="replace").rstrip("\0").lstrip("\n").removeprefix("<0>").rstrip("\n")
    if _REFUSED.match(text):
        raise NoEvents(text)
    at, _, rest = text.partition(" ")
    return HAProxyEvent(datetime.fromisoformat(at), rest.split(maxsplit=1)[0] if rest.strip() else "", rest)
