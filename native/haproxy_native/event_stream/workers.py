"""Publishes that another worker is in service, as the commit context notices it."""

import asyncio
from collections.abc import Callable

from haproxy_native.engine import Engine
from haproxy_native.event_stream.stream import WORKER, EventStream

LOOK_SECONDS = 0.25


class WorkerWatch:
    """`changed` is called before the event is published."""

    def __init__(self, engine: Engine, stream: EventStream, changed: Callable[[], None]) -> None:
        self._state_file, self._stream, self._changed = engine.context.state_file, stream, changed

    async def run(self) -> None:
        """Watches until it is cancelled."""
        known = self._worker
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if (now := self._worker) == known:
                continue
            former, known = known, now
            self._changed()
            if pid := now[0]:
                self._stream.publish(WORKER, f"worker/{pid}", {"pid": pid} | ({"former": former[0]} if former[0] else {}))

    @property
    def _worker(self) -> tuple[int, float]:
        return self._state_file.value.pid, self._state_file.value.started
