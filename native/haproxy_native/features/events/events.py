"""`EventSources`: all that publishes events of one engine, and the present state for those who have missed some."""

from contextlib import suppress
from types import TracebackType
from typing import Any, Self

from haproxy_native.background import Background
from haproxy_native.commit.events import Event, WorkerChanged
from haproxy_native.editing import state_ring
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import RuntimeFailure
from haproxy_native.features.events.changes import Changes
from haproxy_native.features.events.servers import ServerWatch
from haproxy_native.features.events.statistics import StatisticsWatch
from haproxy_native.features.events.stream import CONFIG, RELOAD, SERVER, STATS, WORKER, EventStream, Wanted


class EventSources:
    """Within `async with` events are published to `stream`."""

    def __init__(self, engine: Engine, editor: Editor) -> None:
        self.stream = EventStream()
        self._engine = engine
        self._servers, self._statistics = ServerWatch(engine, self.stream), StatisticsWatch(engine, self.stream)
        self._changes = Changes.of(self.stream, editor, engine.context)
        self._background = Background("publishing events")

    async def __aenter__(self) -> Self:
        self._engine.context.events.listen(self._changes.heard)
        self._engine.context.events.listen(self._servers.heard)
        self._engine.context.events.listen(self._worker_changed)
        for source in (self._changes, self._servers, self._statistics):
            self._background.begin(source.run())
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stream.close()
        await self._background.stop()

    def _worker_changed(self, event: Event) -> None:
        if isinstance(event, WorkerChanged):
            self._servers.worker_changed()
            if now := event.worker:
                former = {"former": event.former.pid} if event.former else {}
                self.stream.publish(WORKER, f"worker/{now.pid}", {"pid": now.pid} | former)

    async def present(self, wanted: Wanted, *, zeros: bool = True) -> dict[str, Any]:
        """The state of what is wanted; of HAProxy as far as it answers. `zeros`: with counters that are 0."""
        context = self._engine.context
        state: dict[str, Any] = {}
        if CONFIG in wanted.types:
            state["version"] = self._engine.version()
        if RELOAD in wanted.types:
            state["reload_pending"] = context.pending
        if WORKER in wanted.types:
            state["worker"] = (worker := context.running.worker) and worker.pid
        with suppress(RuntimeFailure):
            if SERVER in wanted.types:
                state["servers"] = [row for row in await self._servers.now() if wanted.is_about([row["object"]])]
            if STATS in wanted.types:
                counted = await self._statistics.now(wanted.counters, zeros=zeros)
                state[STATS] = [row for row in counted if wanted.is_about([row["object"]])]
        return state

    @property
    def lines_to_add(self) -> dict[str, str]:
        """Returns, by section, the lines that let HAProxy push states; empty if it already does."""
        return state_ring.lines_to_add(self._engine.document)
