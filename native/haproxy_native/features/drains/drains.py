"""`Drains`: operations that take servers out of service, wait until they are idle, and then do what was requested."""

import asyncio
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import ClassVar

from haproxy_native.beside import beside
from haproxy_native.editing.editor import Editor
from haproxy_native.engine import Engine
from haproxy_native.errors import Missing
from haproxy_native.features.drains import drain as drains
from haproxy_native.features.drains.drain import DRAIN, Drain, DrainFailed, ServerStatistics, TooFewReady, named, resolved, rows, shortage
from haproxy_native.features.drains.watch import MAINTENANCE, DrainWatch
from haproxy_native.operations.operations import OPERATION, RUNNING, BackgroundOperation, Operations, RunningOperation
from haproxy_native.planning.touches import CREATE
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document
from haproxy_native.workers.workers import SERVERS, Workers

POLL_SECONDS = 0.25


class Drains:
    """The drains of one engine; `work` is the work of their operations."""

    def __init__(self, engine: Engine, editor: Editor, workers: Workers) -> None:
        self._engine, self._editor, self._workers = engine, editor, workers

    async def begin(
        self, operations: Operations, targets: Sequence[str], make: Callable[[list[str]], Drain], *, author: Author
    ) -> BackgroundOperation:
        """Begin a drain. Raises what `check` raises, and TooManyOperations."""
        drain = await self.check(operations, targets, make, author=author)
        return operations.begin(DRAIN, needs=(CREATE, OPERATION), author=author, **drain.arguments)

    async def check(self, operations: Operations, targets: Sequence[str], make: Callable[[list[str]], Drain], *, author: Author) -> Drain:
        """Return the drain that `make` returns for the servers of the targets.

        Raises Forbidden, NotFound, BadRequest, TooFewReady and RuntimeFailure.
        """
        there = await self._rows()
        drain = make(resolved(targets, there))
        author.permit(*drain.touched)
        if short := shortage([*_running(operations), drain], there):
            raise TooFewReady(short)
        return drain

    async def work(self, running: RunningOperation) -> None:
        """Carry a drain out. Reports the `sessions` of each server, and why it is `paused`. Raises DrainFailed."""
        watch = DrainWatch(self._engine, self._workers, running)
        while True:
            began = time.monotonic()
            if await watch.is_idle():
                break
            if watch.is_late:
                await self._late(watch)
            # With thousands of servers, polling takes time that others need as well.
            await asyncio.sleep(max(POLL_SECONDS, 4 * (time.monotonic() - began)))
        await self._then(watch)

    async def _late(self, watch: DrainWatch) -> None:
        """End a drain whose time is over, as `at_timeout` says. Raises DrainFailed, unless sessions are cut and the drain goes on.

        A paused drain cuts no sessions.
        """
        left = watch.paused or f"{sum(watch.sessions.values())} sessions are left"
        left = f"{left} after {watch.drain.timeout:g} s"
        if watch.drain.at_timeout == drains.CUT and not watch.has_cut and not watch.paused:
            await watch.cut()
            return
        if watch.drain.at_timeout == drains.RESTORE:
            await watch.restore()
            raise DrainFailed(f"{left}; the servers are as they were before")
        raise DrainFailed(f"{left}; the servers stay drained")

    async def _then(self, watch: DrainWatch) -> None:
        if watch.drain.then == drains.MAINT:
            await watch.set_all(MAINTENANCE)
        elif watch.drain.then == drains.CUT:
            await watch.cut()
        elif watch.drain.then == drains.DELETE:
            await self._delete(watch)

    async def _delete(self, watch: DrainWatch) -> None:
        """Delete the servers from the configuration in one commit, and those that it does not have from the process."""
        now = self._engine.document
        gone = DeleteServers(watch.drain.servers, self._editor)
        if gone.apply(now) is not now:
            outcome = await self._engine.amend([gone], author=watch.running.author)
            if outcome.reload_id:
                watch.running.report(reload_id=outcome.reload_id)
                return
        await watch.delete_rest()

    async def _rows(self) -> list[ServerStatistics]:
        return await beside(rows, await self._engine.runtime.send(f"show stat -1 {SERVERS} -1"))


@dataclass(frozen=True)
class DeleteServers:
    """The operation that deletes servers from the proxies of their backend's name. Missing servers are skipped."""

    servers: Sequence[str]
    editor: Editor
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        table = self.editor.resources
        for server in self.servers:
            backend, name = named(server)
            for parent in [table[name] for name in table["servers"].parents]:
                if document.find(parent.section, backend):
                    with suppress(Missing):
                        document = self.editor.delete(document, table["servers"], (parent, backend), name)
        return document


def _running(operations: Operations) -> list[Drain]:
    return [Drain.of(operation.arguments) for operation in operations.all() if operation.kind == DRAIN and operation.status == RUNNING]
