"""Performs the debounce's actions: runs the strategy, observes the outcome, records it, and wakes the waiting requests.

One reload at a time. A failed one is shown as failed only when the caller has put the file back. Where HAProxy does not run, the reload
stays in progress until it does: the text is loaded when HAProxy starts.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from haproxy_native.errors import ReloadFailed, RuntimeFailure
from haproxy_native.process_state import Load
from haproxy_native.reload.debounce import Begin, Debounce, Finished, Input, Loading, Requested, Tick, Wake, Withdrawn
from haproxy_native.reload.records import FAILED, IN_PROGRESS, SUCCEEDED, Phase, Reason, Record, Records
from haproxy_native.reload.strategies import Outcome, Source, Strategy
from haproxy_native.reload.verdict import MASTER_FAILED, Ending, Verdict, first_alert
from haproxy_native.reload.worker_observer import WorkerObserver
from haproxy_native.runtime.client import Runtime, Worker

log = logging.getLogger(__name__)
UNKNOWN = "it is not known whether HAProxy took it"
WAITS = "HAProxy does not run; the configuration is loaded when HAProxy starts"
_STARTED = "HAProxy was started at "


class Host(Protocol):
    """The owner of the file. `loading` is entered during a reload, and `loaded` and `refused` are called meanwhile."""

    def expects_haproxy(self) -> bool:
        """Whether a HAProxy is known to run here, so that none is one that has been stopped."""

    def loading(self) -> AbstractAsyncContextManager[Load]:
        """Gives what the file holds. Only live changes are made meanwhile."""

    async def loaded(self) -> Sequence[str]:
        """HAProxy runs the text now; returns what it does otherwise."""

    async def refused(self, record: Record) -> Record:
        """HAProxy did not take it: takes back what it refuses, and returns the record with what became of each change."""

    def runs_since(self, moment: float) -> int | None:
        """The pid of the worker in service, where it started after this Unix time and does what the file says."""

    def ended(self, record: Record) -> None:
        """The reload is over, and its record says how."""


def _fields(record: Record) -> dict[str, Any]:
    return {"fields": {"reload_id": record.id}}


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
        # By the reload's id: the version that the waiting change has made, and what it waits for.
        self._waiting: dict[str, list[tuple[int | None, asyncio.Future[Record]]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._work: asyncio.Task[None] | None = None
        self.awaiting: str | None = None
        # Unix time when a reload was last given up, or found open at start.
        self.left_at = time.time() if self.records.interrupted else 0.0

    @property
    def pending(self) -> str | None:
        """The id of the reload for which HAProxy has not begun to read the file: a scheduled one, or the one that waits for its start."""
        return self._debounce.pending or self.awaiting

    @property
    def loading(self) -> str | None:
        """The id of the reload at work."""
        return self._debounce.running

    @property
    def idle(self) -> bool:
        """Whether no reload is scheduled or at work; one may wait for HAProxy's start."""
        return self._debounce.pending is None and self._work is None

    def schedule(self, reasons: Sequence[Reason]) -> str:
        """The id of the pending reload, an earlier request's if there is one."""
        return self._request(reasons, forced=False).id

    def resume(self, reasons: Sequence[Reason], *, changed: bool = False) -> str:
        """Schedules as `schedule` does, under the last id that a former process left open; the others continue in it.

        `changed`: the last one was loading another text than the file now has, so that all continue under a new id.
        """
        interrupted = self.records.interrupted
        if not interrupted or changed:
            identity = self.schedule(reasons)
            for record in interrupted:
                self.records.continue_in(record.id, identity)
            return identity
        last = interrupted[-1]
        for record in interrupted[:-1]:
            self.records.continue_in(record.id, last.id)
        self.records.join(last.id, reasons, listed=last.listed)
        self._handle(Requested(last.id, self._clock()))
        return last.id

    def has_started(self, worker: Worker, version: int | None) -> None:
        """HAProxy runs again, while a reload waits for that: with all of this version, or, with None, it is made to reload now.

        With a version a reload that is scheduled meanwhile is over as well.
        """
        if self.awaiting is None:
            return
        if version is None:
            self._handle(Requested(self.awaiting, self._clock(), forced=True))
            return
        last = self._debounce.pending or self.awaiting
        if last != self.awaiting:
            self.records.continue_in(self.awaiting, last)
        record = replace(self.records.get(last), version=version)
        self.awaiting = None
        self._handle(Withdrawn(self._clock()))
        log.info("reload %s: HAProxy has started with version %d", record.id, version, extra=_fields(record))
        self._host.ended(self.records.finish(record.succeeded(worker.pid)))

    def note_start(self, moment: float) -> None:
        """Records a start of HAProxy at this Unix time that no worker has come of, while a reload waits for one.

        What the start failed for may be nothing of the text's, such as a port that another program has, so that it is no refusal.
        """
        if self.awaiting is None or moment <= ((record := self.records.get(self.awaiting)).started or record.requested):
            return
        at = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        note = f"{_STARTED}{at} and does not answer; its own log says why"
        if note not in record.response:
            log.warning("reload %s: %s", record.id, note, extra=_fields(record))
            first, *others = (line for line in record.response.splitlines() if not line.startswith(_STARTED))
            self.records.update(replace(record, response=_joined(first, note, *others)))

    async def force(self, reasons: Sequence[Reason], version: int | None = None, begun: Callable[[str], None] = lambda id_: None) -> Record:
        """Reloads now, the pending one with it, and returns its record, which is still in progress where HAProxy does not run.

        `version`: that of the change to be loaded. Where it is kept when the reload fails, the next one is awaited, which loads the rest
        at once. `begun` is called with the id of the reload. Raises ReloadFailed.
        """
        record = self._request(reasons, forced=True)
        begun(record.id)
        done: asyncio.Future[Record] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(record.id, []).append((version, done))
        # The reload goes on when the client that waits for it goes away.
        record = await done
        if record.status == IN_PROGRESS:
            return self.records.join(record.id, reasons)
        if record.status == FAILED and not record.keeps(version):
            raise ReloadFailed(record.failure)
        return record

    async def close(self) -> None:
        """Carries out what is pending and returns when nothing runs any more."""
        if pending := self._debounce.pending:
            self._handle(Requested(pending, self._clock(), forced=True))
        while self._work:
            await asyncio.wait([self._work])
        if self._timer:
            self._timer.cancel()

    def _request(self, reasons: Sequence[Reason], *, forced: bool) -> Record:
        pending, join = self.pending, self.records.join
        record = join(pending, reasons, listed=not forced) if pending else self.records.issue(reasons, listed=not forced)
        self._handle(Requested(record.id, self._clock(), forced))
        return record

    def _handle(self, event: Input) -> None:
        if self._timer:
            self._timer.cancel()
            self._timer = None
        for action in self._debounce.handle(event):
            if isinstance(action, Begin):
                if self.awaiting and self.awaiting != action.id:
                    self.records.continue_in(self.awaiting, action.id)
                self.awaiting = None
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
        self.awaiting = identity if record.status == IN_PROGRESS else None
        self._wake(record)
        self._handle(Finished(self._clock()))
        if record.status != IN_PROGRESS:
            self._host.ended(record)

    def _wake(self, record: Record) -> None:
        """Gives the record to all that wait for the reload, except those whose change is loaded by the next one, at once."""
        for version, done in self._waiting.pop(record.id, []):
            if (rest := record.rest_reload_id) and record.keeps(version):
                self._waiting.setdefault(rest, []).append((version, done))
                self._handle(Requested(rest, self._clock(), forced=True))
            elif not done.done():
                done.set_result(record)

    async def _carry_out(self, identity: str) -> Record:
        observer = WorkerObserver(self._runtime, known=self._host.expects_haproxy(), patience=self._patience)
        async with self._host.loading() as load:
            self._handle(Loading(self._clock()))
            began = time.time()
            await observer.before()
            pid = observer.worker.pid if observer.worker else None
            record = replace(self.records.get(identity), started=began, version=load.version, phase=Phase.LOADING, pid_before=pid)
            self.records.update(record)
            await self.records.written()
            claim = await self._claim()
            verdict = await observer.after(began, claim)
            # Through its master's socket HAProxy has said it already.
            startup_log = await observer.startup_log() if verdict.why == MASTER_FAILED and claim.source is not Source.HAPROXY else ""
            record = _judged(record, claim, verdict, startup_log, observer.worker)
            if record.status == SUCCEEDED:
                return await self._succeeded(record)
            return await self._failed(record, load) if record.status == FAILED else self._waits(record)

    async def _claim(self) -> Outcome:
        try:
            return await self._strategy.run()
        except Exception as error:
            log.exception("the reload could not be asked for")
            return Outcome(False, error=f"{type(error).__name__}: {error}")

    async def _succeeded(self, record: Record) -> Record:
        with contextlib.suppress(RuntimeFailure):
            await self._runtime.refresh()
        try:
            record = replace(record, differences=tuple(await self._host.loaded()))
        except Exception:
            log.exception("after reload %s", record.id)
        log.info("reload %s: HAProxy runs version %s", record.id, record.version, extra=_fields(record))
        return self.records.finish(record)

    def _waits(self, record: Record) -> Record:
        log.warning("reload %s: %s", record.id, record.response, extra=_fields(record))
        return self.records.update(record)

    async def _failed(self, record: Record, load: Load) -> Record:
        log.info("Reload failed, reverting the last working config...", extra=_fields(record))
        self.records.update(replace(record, status=IN_PROGRESS, phase=Phase.REFUSED))
        await self.records.written()
        try:
            record = await self._host.refused(record)
        except Exception as error:
            log.exception("the file could not be put back after reload %s", record.id)
            record = replace(record, response=f"{record.response}. Failed to revert to the last working config file: {error}")
        if (pid := self._host.runs_since(record.requested)) and record.restored_version is None:
            log.info("reload %s: HAProxy was started with version %s meanwhile", record.id, record.version, extra=_fields(record))
            return self.records.finish(record.succeeded(pid))
        alert = first_alert(record.response)
        self.left_at = time.time()
        log.warning("Reload failed: %s", f"{record.error}: {alert}" if alert else record.error, extra=_fields(record))
        return self.records.finish(record, refused=load.text.document.data)


def _judged(record: Record, claim: Outcome, verdict: Verdict, startup_log: str, before: Worker | None) -> Record:
    """The record with its outcome. What was seen outweighs what was claimed."""
    record = replace(record, pid_before=before.pid if before else None, pid_after=verdict.worker.pid if verdict.worker else None)
    if verdict.ending is Ending.ABSENT:
        return replace(record, phase=Phase.WAITING, response=_joined(WAITS, claim.error, claim.response))
    seen = verdict.ending is not Ending.UNSEEN
    ok = verdict.ending is Ending.LOADED if seen else claim.ok
    error = "" if ok else claim.error or verdict.why or UNKNOWN
    # A strategy that knew of no failure has said nothing about it.
    response = claim.response if ok or claim.ok is False else _joined(error, claim.response)
    status = SUCCEEDED if ok else FAILED
    return replace(record, status=status, phase=Phase.OVER, response=_joined(response, startup_log) or error, error=error, verified=seen)


def _joined(*parts: str) -> str:
    return "\n".join(dict.fromkeys(part for part in parts if part))
