"""Perform the reloads that the debounce starts: run the strategy, observe the outcome, record it, and wake the waiting requests.

Only one reload is in progress at a time:

1. `Host.loading` stores the content of the file. Until the reload ends, only changes that need no reload are committed.
2. The record is written to disk with `Phase.LOADING`.
3. The strategy reloads HAProxy. The worker observer polls the sockets until the outcome is known (native/haproxy_native/reload/verdict.py).
4. After a success, `Host.loaded` records that the new worker runs the text. After a failure, the record is written to disk with
   `Phase.REFUSED`, then `Host.refused` reverts the refused changes. Only then is the reload reported as failed.
5. Requests that wait for the reload get its record.

If HAProxy does not run, nothing has refused the text. The reload then stays in progress until HAProxy starts (`has_started`).

If the server is killed, the record stays in progress. Its phase determines what the next start does
(native/haproxy_native/commit/after_reload.py).
"""

import asyncio
import logging
import time
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any, Protocol

from haproxy_native.errors import ReloadFailed, RuntimeAbsent, RuntimeFailure
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import Load
from haproxy_native.reload.debounce import Begin, Debounce, Finished, Input, Loading, Requested, Tick, Wake, Withdrawn
from haproxy_native.reload.records import FAILED, IN_PROGRESS, SUCCEEDED, Phase, Records, ReloadRecord
from haproxy_native.reload.strategies import OutcomeSource, ReloadClaim, Strategy
from haproxy_native.reload.verdict import MASTER_FAILED, Observation, Patience, ReloadEnding, ReloadVerdict, Trial, first_alert
from haproxy_native.runtime.client import Runtime, Worker

log = logging.getLogger(__name__)
UNKNOWN = "it is unknown whether HAProxy has loaded it"
WAITS = "HAProxy does not run; the configuration is loaded when HAProxy starts"
SILENT = "HAProxy does not answer; the configuration is loaded when HAProxy answers again"
_STARTED = "HAProxy was started at "
# Seconds between two observations of the sockets.
POLL = 0.02


class WorkerObserver:
    """Observes HAProxy's sockets during one reload. `known`: whether HAProxy runs here, so that no answer means that it was stopped."""

    def __init__(self, runtime: Runtime, *, known: bool = True, patience: float = 10.0) -> None:
        self._runtime, self._known, self._patience = runtime, known, Patience.from_seconds(patience)
        self.first = Observation(0.0)

    @property
    def worker(self) -> Worker | None:
        """The worker that answered before the reload."""
        return self.first.worker

    async def before(self) -> None:
        self.first = await self._observe(0.0)

    async def after(self, began: float, claim: ReloadClaim) -> ReloadVerdict:
        """Poll the sockets until the outcome is certain, or a time limit is over. `began`: the Unix time before the reload."""
        clock, trial = asyncio.get_running_loop().time, Trial(self.first, claim, began, self._known, self._patience)
        start = clock()
        while True:
            verdict = trial.decide(await self._observe(clock() - start))
            if verdict is not None:
                return verdict
            await asyncio.sleep(POLL)

    async def startup_log(self) -> str:
        """Return what HAProxy reported when it last tried to start a worker; empty if its master cannot be queried, as in 2.6."""
        master = self._runtime.configured_master
        try:
            return await master.startup_log() if master else ""
        except RuntimeAbsent:
            return ""

    async def _observe(self, at: float) -> Observation:
        worker, processes, master = None, None, self._runtime.configured_master
        with suppress(RuntimeAbsent):
            worker = await self._runtime.worker()
        with suppress(RuntimeAbsent):
            processes = await master.processes() if master else None
        return Observation(at, worker, processes, self._runtime.is_configured)


class Host(Protocol):
    """The owner of the file. `loading` is entered for the duration of a reload; `loaded` or `refused` is called within it."""

    def expects_haproxy(self) -> bool:
        """Return whether HAProxy runs on this host, so that no answer means that it was stopped."""

    def loading(self) -> AbstractAsyncContextManager[Load]:
        """Return a context manager that yields the content of the file. Within it, only changes that need no reload are committed."""

    async def loaded(self) -> Sequence[str]:
        """Record that HAProxy runs the text. Return a sentence for each difference between the worker and the text."""

    async def refused(self, record: ReloadRecord) -> ReloadRecord:
        """Revert the changes that HAProxy has refused; return the record with the outcome of each change."""

    def runs_since(self, moment: float) -> int | None:
        """Return the pid of the worker if it has started after this Unix time and runs the current file; else None."""

    def ended(self, record: ReloadRecord) -> None:
        """Called after the end of a reload. `record` has the outcome."""


def _fields(record: ReloadRecord) -> dict[str, Any]:
    return {"fields": {"reload_id": record.id}}


class ReloadAgent:
    """Reloads HAProxy. Call `close` when the server stops: otherwise a scheduled reload would be lost."""

    def __init__(
        self,
        strategy: Strategy,
        runtime: Runtime,
        delay: float,
        records: Records,
        host: Host,
        *,
        patience: float = 10.0,
    ) -> None:
        self.records = records
        self._strategy, self._runtime, self._host = strategy, runtime, host
        self._patience = patience
        self._debounce = Debounce(delay)
        # By the id of the reload, for each waiting request: the version that its change has made, and the future that wakes it.
        self._waiting: dict[str, list[tuple[int | None, asyncio.Future[ReloadRecord]]]] = {}
        self._timer: asyncio.TimerHandle | None = None
        self._work: asyncio.Task[None] | None = None
        # The id of the reload that waits for HAProxy's start.
        self.awaiting: str | None = None
        # Unix time when a reload last failed, or of the start if the former process left a reload in progress.
        self.left_at = time.time() if self.records.interrupted else 0.0

    @property
    def pending(self) -> str | None:
        """The id of the reload that will load the current file: a scheduled one, or the one that waits for HAProxy's start."""
        return self._debounce.pending or self.awaiting

    @property
    def loading(self) -> str | None:
        """The id of the reload in progress; None if there is none."""
        return self._debounce.running

    @property
    def idle(self) -> bool:
        """Whether no reload is scheduled or in progress. True if a reload only waits for HAProxy's start."""
        return self._debounce.pending is None and self._work is None

    def schedule(self, reasons: Sequence[Reason]) -> str:
        """Schedule a reload, or join the pending one; return its id."""
        return self._request(reasons, forced=False).id

    def resume(self, reasons: Sequence[Reason], *, changed: bool = False) -> str:
        """Schedule a reload that replaces all reloads which a former server process has left in progress. Return its id.

        The id is that of the last interrupted reload. It is new if the file has changed since that reload began to load it (`changed`).
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
        self._handle(Requested(last.id, time.monotonic()))
        return last.id

    def has_started(self, worker: Worker, version: int | None) -> None:
        """End the reload that waits for HAProxy's start. `version`: the version that the worker runs.

        `version` is None if the worker does not run the current configuration completely; then HAProxy is reloaded without delay. Otherwise
        a reload that was scheduled since has succeeded as well.
        """
        if self.awaiting is None:
            return
        if version is None:
            self._handle(Requested(self.awaiting, time.monotonic(), forced=True))
            return
        last = self._debounce.pending or self.awaiting
        if last != self.awaiting:
            self.records.continue_in(self.awaiting, last)
        record = replace(self.records.get(last), version=version)
        self.awaiting = None
        self._handle(Withdrawn(time.monotonic()))
        log.info("reload %s: HAProxy has started with version %d", record.id, version, extra=_fields(record))
        self._host.ended(self.records.finish(record.succeeded(worker.pid)))

    def note_start(self, moment: float) -> None:
        """Record that HAProxy was started at this Unix time but does not answer, while a reload waits for its start.

        The reload has not failed: HAProxy may have failed to start for another reason than the text, such as a port in use.
        """
        if self.awaiting is None or moment <= ((record := self.records.get(self.awaiting)).started or record.requested):
            return
        at = datetime.fromtimestamp(moment, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
        note = f"{_STARTED}{at} and does not answer; its own log says why"
        if note not in record.response:
            log.warning("reload %s: %s", record.id, note, extra=_fields(record))
            first, *others = (line for line in record.response.splitlines() if not line.startswith(_STARTED))
            self.records.update(replace(record, response=_joined(first, note, *others)))

    async def force(
        self, reasons: Sequence[Reason], version: int | None = None, begun: Callable[[str], None] = lambda id_: None
    ) -> ReloadRecord:
        """Reload without delay, together with the pending reload, and wait for the end. Return the record. Raises ReloadFailed.

        If HAProxy does not run, the record is still in progress. `version`: the version that the caller's change has made. If the reload
        fails because of other changes and this change stays in the file, wait for a second reload, which loads it. `begun` is called with
        the id of the reload.
        """
        record = self._request(reasons, forced=True)
        begun(record.id)
        done: asyncio.Future[ReloadRecord] = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(record.id, []).append((version, done))
        # The reload continues even if the client disconnects.
        record = await done
        if record.status == IN_PROGRESS:
            return self.records.join(record.id, reasons)
        if record.status == FAILED and not record.keeps(version):
            raise ReloadFailed(record.failure, alert=first_alert(record.response), reload_id=record.id)
        return record

    async def close(self) -> None:
        """Perform the pending reload without delay, and return when no reload is in progress."""
        if pending := self._debounce.pending:
            self._handle(Requested(pending, time.monotonic(), forced=True))
        while self._work:
            await asyncio.wait([self._work])
        if self._timer:
            self._timer.cancel()

    def _request(self, reasons: Sequence[Reason], *, forced: bool) -> ReloadRecord:
        pending, join = self.pending, self.records.join
        record = join(pending, reasons, listed=not forced) if pending else self.records.issue(reasons, listed=not forced)
        self._handle(Requested(record.id, time.monotonic(), forced))
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
                delay = max(0.0, action.at - time.monotonic())
                self._timer = asyncio.get_running_loop().call_later(delay, lambda: self._handle(Tick(time.monotonic())))

    async def _reload(self, identity: str) -> None:
        try:
            record = await self._perform(identity)
        except Exception as error:
            log.exception("reload %s failed", identity)
            failed = replace(self.records.get(identity), status=FAILED, error=f"{type(error).__name__}: {error}")
            record = self.records.finish(failed)
        self._work = None
        self.awaiting = identity if record.status == IN_PROGRESS else None
        for version, done in self._waiting.pop(record.id, []):
            if (rest := record.rest_reload_id) and record.keeps(version):
                # The change is still in the file although the reload has failed. The request waits for the reload that loads the change.
                self._waiting.setdefault(rest, []).append((version, done))
                self._handle(Requested(rest, time.monotonic(), forced=True))
            elif not done.done():
                done.set_result(record)
        self._handle(Finished(time.monotonic()))
        if record.status != IN_PROGRESS:
            self._host.ended(record)

    async def _perform(self, identity: str) -> ReloadRecord:
        observer = WorkerObserver(self._runtime, known=self._host.expects_haproxy(), patience=self._patience)
        async with self._host.loading() as load:
            self._handle(Loading(time.monotonic()))
            began = time.time()
            await observer.before()
            pid = observer.worker.pid if observer.worker else None
            record = replace(self.records.get(identity), started=began, version=load.version, phase=Phase.LOADING, pid_before=pid)
            self.records.update(record)
            await self.records.written()
            try:
                claim = await self._strategy.run()
            except Exception as error:
                log.exception("requesting the reload failed")
                claim = ReloadClaim(False, error=f"{type(error).__name__}: {error}")
            verdict = await observer.after(began, claim)
            # After a reload through the master's socket, the claim has the startup log already.
            startup_log = await observer.startup_log() if verdict.why == MASTER_FAILED and claim.source is not OutcomeSource.HAPROXY else ""
            record = _with_outcome(record, claim, verdict, startup_log, observer.worker)
            if verdict.ending is ReloadEnding.ABSENT:
                waits = SILENT if self._runtime.is_silent else WAITS
                record = replace(record, phase=Phase.WAITING, response=_joined(waits, claim.error, claim.response))
            if record.status == FAILED:
                return await self._revert(record, load)
            if record.status == IN_PROGRESS:
                log.warning("reload %s: %s", record.id, record.response, extra=_fields(record))
                return self.records.update(record)
            with suppress(RuntimeFailure):
                await self._runtime.refresh()
            try:
                record = replace(record, differences=tuple(await self._host.loaded()))
            except Exception:
                log.exception("handling the success of reload %s failed", record.id)
            log.info("reload %s: HAProxy runs version %s", record.id, record.version, extra=_fields(record))
            return self.records.finish(record)

    async def _revert(self, record: ReloadRecord, load: Load) -> ReloadRecord:
        """Revert the changes that HAProxy has refused, and end the record.

        The record succeeds if HAProxy was started with the same text meanwhile.
        """
        log.info("Reload failed, reverting the last working config...", extra=_fields(record))
        self.records.update(replace(record, status=IN_PROGRESS, phase=Phase.REFUSED))
        await self.records.written()
        try:
            record = await self._host.refused(record)
        except Exception as error:
            log.exception("restoring the file after reload %s failed", record.id)
            record = replace(record, response=f"{record.response}. Failed to revert to the last working config file: {error}")
        if (pid := self._host.runs_since(record.requested)) and record.restored_version is None:
            log.info("reload %s: HAProxy was started with version %s meanwhile", record.id, record.version, extra=_fields(record))
            return self.records.finish(record.succeeded(pid))
        alert = first_alert(record.response)
        self.left_at = time.time()
        log.warning("Reload failed: %s", f"{record.error}: {alert}" if alert else record.error, extra=_fields(record))
        return self.records.finish(record, refused=load.text.document.data)


def _with_outcome(
    record: ReloadRecord, claim: ReloadClaim, verdict: ReloadVerdict, startup_log: str, before: Worker | None
) -> ReloadRecord:
    """Return the record with the outcome of the reload; if no worker runs, it stays in progress.

    An observed outcome takes precedence over the claim of the strategy.
    """
    record = replace(record, pid_before=before.pid if before else None, pid_after=verdict.worker.pid if verdict.worker else None)
    if verdict.ending is ReloadEnding.ABSENT:
        return record
    seen = verdict.ending is not ReloadEnding.UNSEEN
    ok = verdict.ending is ReloadEnding.LOADED if seen else claim.ok
    error = "" if ok else claim.error or verdict.why or UNKNOWN
    # If the strategy has not claimed a failure, its response does not explain one.
    response = claim.response if ok or claim.ok is False else _joined(error, claim.response)
    status = SUCCEEDED if ok else FAILED
    return replace(record, status=status, phase=Phase.OVER, response=_joined(response, startup_log) or error, error=error, verified=seen)


def _joined(*parts: str) -> str:
    return "\n".join(dict.fromkeys(part for part in parts if part))
