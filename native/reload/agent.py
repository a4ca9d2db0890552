"""Carries out what the debounce decides: runs the strategy, looks whether HAProxy took it, records the outcome, tells the caller.

One reload at a time. A failed one is shown as failed only when the caller has put the file back.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from typing import Any, Protocol

from native.errors import ReloadFailed, RuntimeFailure
from native.reload.debounce import Begin, Debounce, Event, Finished, Loading, Requested, Tick, Wake
from native.reload.records import FAILED, SUCCEEDED, Reason, Record, Records
from native.reload.sight import Seen, Sight
from native.reload.strategies import Outcome, Strategy
from native.runtime.client import Runtime

log = logging.getLogger(__name__)
UNKNOWN = "it is not known whether HAProxy took it"


class Loaded(Protocol):
    """What HAProxy reads during a reload."""

    @property
    def data(self) -> bytes: ...


class Host(Protocol):
    """Who owns the file. All are called during one reload, `loaded` and `refused` while `loading` is entered."""

    def loading(self) -> AbstractAsyncContextManager[tuple[Any, str, int]]:
        """Nobody changes the file meanwhile; gives (its document, a mark of the caller's, its version)."""

    async def loaded(self, document: Any, mark: str) -> None:
        """HAProxy runs this now."""

    async def refused(self, record: Record) -> int | None:
        """HAProxy did not take it: puts the file back; the version under which it was."""

    def ended(self, record: Record) -> None:
        """The reload is over, and its record says how."""


class ReloadAgent:
    """`start` before the first request, `close` at the end: a scheduled reload is not lost by stopping the server."""

    def __init__(
        self,
        strategy: Strategy,
        runtime: Runtime,
        delay: float,
        records: Records,
        host: Host,
        *,
        clock: Callable[[], float] = time.monotonic,
        patience: float = 10.0,
    ) -> None:
        self.records = records
        self._strategy, self._runtime, self._host = strategy, runtime, host
        self._clock, self._patience = clock, patience
        self._debounce = Debounce(delay)
        self._waiting: dict[str, list[asyncio.Future[Record]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._work: asyncio.Task[None] | None = None

    @property
    def pending(self) -> str | None:
        """The id of the scheduled reload for which HAProxy has not begun to read the file."""
        return self._debounce.pending

    def schedule(self, reasons: Sequence[Reason]) -> str:
        """The id of the pending reload, an earlier request's if there is one."""
        return self._request(reasons, forced=False).id

    def resume(self, reasons: Sequence[Reason]) -> str:
        """As `schedule`, under the id that a former process gave out and did not come to."""
        promised = [record for record in self.records.interrupted if record.started is None]
        if not promised:
            return self.schedule(reasons)
        record = self.records.reopen(promised[-1])
        self.records.join(record.id, reasons)
        self._handle(Requested(record.id, self._clock()))
        return record.id

    async def force(self, reasons: Sequence[Reason]) -> Record:
        """Reloads now, the pending one with it, and returns its record. Raises ReloadFailed."""
        record = self._request(reasons, forced=True)
        done: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(record.id, []).append(done)
        # The reload goes on when the client that waits for it goes away.
        record = await done
        if record.status == FAILED:
            raise ReloadFailed("Reload failed: " + ", ".join(dict.fromkeys(part for part in (record.error, record.response) if part)))
        return record

    async def close(self) -> None:
        """Carries out what is pending and returns when nothing runs any more."""
        if self.pending:
            self._handle(Requested(self.pending, self._clock(), forced=True))
        while self._work:
            await asyncio.wait([self._work])
        if self._timer:
            self._timer.cancel()

    def _request(self, reasons: Sequence[Reason], *, forced: bool) -> Record:
        pending = self._debounce.pending
        join = self.records.join
        record = join(pending, reasons, listed=not forced) if pending else self.records.issue(reasons, listed=not forced)
        self._handle(Requested(record.id, self._clock(), forced))
        return record

    def _handle(self, event: Event) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        for action in self._debounce.handle(event):
            if isinstance(action, Begin):
                self._work = asyncio.get_running_loop().create_task(self._reload(action.id))
            elif isinstance(action, Wake):
                delay = max(0.0, action.at - self._clock())
                self._timer = asyncio.get_running_loop().call_later(delay, lambda: self._handle(Tick(self._clock())))

    async def _reload(self, identity: str) -> None:
        try:
            record = await self._carry_out(identity)
        except Exception as error:
            log.exception("reload %s", identity)
            failed = replace(self.records.get(identity), status=FAILED, error=f"{type(error).__name__}: {error}")
            record = self.records.finish(failed)
        self._work = None
        self._handle(Finished(self._clock()))
        for done in self._waiting.pop(identity, []):
            if not done.done():
                done.set_result(record)
        self._host.ended(record)

    async def _carry_out(self, identity: str) -> Record:
        sight = Sight(self._runtime, patience=self._patience)
        async with self._host.loading() as (document, mark, version):
            self._handle(Loading(self._clock()))
            record = self.records.update(replace(self.records.get(identity), started=time.time(), version=version))
            await sight.before()
            outcome = await self._strategy.run()
            look = sight.after_failure if outcome.ok is False else sight.after
            seen = await look(record.started or 0.0)
            record = _judged(record, outcome, seen, sight)
            if record.status == SUCCEEDED:
                return await self._succeeded(record, document, mark)
            return await self._failed(record, document)

    async def _succeeded(self, record: Record, document: Any, mark: str) -> Record:
        with contextlib.suppress(RuntimeFailure):
            await self._runtime.refresh()
        try:
            await self._host.loaded(document, mark)
        except Exception:
            log.exception("after reload %s", record.id)
        log.info("reload %s: HAProxy runs version %s", record.id, record.version, extra={"fields": {"reload_id": record.id}})
        return self.records.finish(record)

    async def _failed(self, record: Record, document: Loaded) -> Record:
        log.info("Reload failed, reverting the last working config...", extra={"fields": {"reload_id": record.id}})
        try:
            restored = await self._host.refused(record)
            record = replace(record, restored_version=restored)
        except Exception as error:
            log.exception("the file could not be put back after reload %s", record.id)
            record = replace(record, response=f"{record.response}. Failed to revert to the last working config file: {error}")
        log.warning("Reload failed: %s", record.error, extra={"fields": {"reload_id": record.id}})
        return self.records.finish(record, refused=document.data)


def _judged(record: Record, outcome: Outcome, seen: Seen, sight: Sight) -> Record:
    """What was seen outweighs what was claimed."""
    ok = outcome.ok if seen.success is None else seen.success
    error = "" if ok else outcome.error or seen.why or UNKNOWN
    # A strategy that knew of no failure has said nothing about it.
    said = outcome.response if ok or outcome.ok is False else "\n".join(part for part in (error, outcome.response) if part)
    return replace(
        record,
        status=SUCCEEDED if ok else FAILED,
        response=said or error,
        error=error,
        verified=seen.success is not None,
        pid_before=sight.worker.pid if sight.worker else None,
        pid_after=seen.worker.pid if seen.worker else None,
    )
