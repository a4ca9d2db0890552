"""Publishes that another worker is in service, as the commit context notices it."""

import asyncio
from collections.abc import Callable

from haproxy_native.engine import Engine
from haproxy_native.event_stream.stream import WORKER, EventStream

LOOK_SECONDS = 0.25


class WorkerWatch:
    """`changed` is called before the event is published."""

    def __init__(self, engine: Engine, stream: EventStream, changed: Callable[[], None]) -> None:
        self._running, self._stream, self._changed = engine.context.running, stream, changed

    async def run(self) -> None:
        """Watches until it is cancelled."""
        known = self._running.worker
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if (now := self._running.worker) == known:
                continue
            former, known = known, now
            self._changed()
            if now:
                self._stream.publish(WORKER, f"worker/{now.pid}", {"pid": now.pid} | ({"former": former.pid} if former else {}))
