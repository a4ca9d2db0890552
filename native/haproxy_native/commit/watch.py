"""Check between changes which worker answers, and whether HAProxy would accept the file.

`ProcessWatch` queries the worker once a second, and less often while its master certainly does not reload (`ReloadWatch`). It logs when
HAProxy stops or starts to answer, ends a reload that waits for the start of HAProxy, and saves the text that a failed reload restores,
which runtime changes do not write.

`Soundness` answers readiness probes, which may come every second. A committed text has been checked already. Any other text (at the start,
or after an edit by another process) is checked once, and again after HAProxy's program was replaced. A refused text is checked again after
`RETRY_SECONDS`, since the cause may be a file that the configuration refers to.
"""

import asyncio
import logging
import shutil
import time
from contextlib import suppress

from haproxy_native.background import next_second
from haproxy_native.check.check import check
from haproxy_native.commit import after_reload
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.atomic import Stamp, stamp
from haproxy_native.errors import BadRequest, NativeError, RuntimeFailure
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import ReloadRequired
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.master import ReloadWatch

log = logging.getLogger(__name__)
SECONDS_WHILE_AWAITED = 0.2
# Between two queries while HAProxy answers and its master does not reload. This is the longest time after which the watch detects a worker
# that hangs, or that has ended without its master.
REST_SECONDS = 5
PATIENCE = 2.0
# How long HAProxy may take to answer after it has opened its sockets.
START_SECONDS = 1.0
# How long after a failed or interrupted reload a new worker is still attributed to that reload.
LATE_SECONDS = 120.0
LATE = Reason("a former reload has started a worker late, and it is not known what that has read")
# How long the refusal of a text is valid.
RETRY_SECONDS = 10.0
# The fingerprint of the text, and the path and the stamp of HAProxy's program.
Key = tuple[str, str, Stamp | None]


class ProcessWatch:
    """Observes the worker for as long as `run` runs."""

    def __init__(self, context: CommitContext) -> None:
        self._context = context
        self._answers: bool | None = None
        # The last worker that was seen, and whether the text that it had loaded was known.
        self._seen: tuple[Worker | None, bool] = None, False

    async def run(self) -> None:
        """Query the worker again and again, until this task is cancelled."""
        reloads = ReloadWatch()
        try:
            while True:
                await self.poll()
                await self._sleep_until_poll(reloads)
        finally:
            reloads.close()

    async def _sleep_until_poll(self, reloads: ReloadWatch) -> None:
        """Sleep until the worker should be queried again."""
        if self._context.reloads.awaiting:
            return await asyncio.sleep(SECONDS_WHILE_AWAITED)
        for _ in range(REST_SECONDS):
            await next_second()
            if self._context.reloads.awaiting or not self._answers or not await reloads.is_quiet(self._context.runtime.master):
                return
            self._context.running.save_last_good()

    async def poll(self) -> None:
        """Query the worker once, and act on what is new."""
        try:
            async with asyncio.timeout(PATIENCE):
                worker = await self._context.runtime.worker()
        except RuntimeFailure as error:
            self._note(False, f"HAProxy does not answer: {error}")
            if (opened := self._context.runtime.last_opened()) < time.time() - START_SECONDS:
                self._context.reloads.note_start(opened)
            return
        except TimeoutError:
            # A worker that is starting may accept a connection and lose it.
            self._note(False, f"HAProxy does not answer: {self._context.runtime.address}: no answer within {PATIENCE:g} s")
            # A reload need not wait for the master if that is silent as well (`Pulse`), so the master is queried here.
            with suppress(RuntimeFailure, TimeoutError):
                async with asyncio.timeout(PATIENCE):
                    if master := self._context.runtime.configured_master:
                        await master.processes()
            return
        self._note(True, f"HAProxy answers again (pid {worker.pid})")
        running = self._context.running
        is_new = worker != running.worker
        # A request may have been the first to see this worker.
        is_unknown = worker != self._seen[0] and running.document is None
        if self._context.reloads.awaiting or is_new or is_unknown:
            async with self._context.settled(), self._context.process_lock:
                await (self._context.observe() if self._context.read_only else self._handle_worker(worker))
        self._seen = worker, running.document is not None
        running.save_last_good()

    async def _handle_worker(self, worker: Worker) -> None:
        context = self._context
        was_known = self._seen[1] or context.running.document is not None
        await context.observe()
        context.mark_files_loaded()
        after_reload.finish_interrupted(context)
        reasons = await after_reload.apply_missing(context)
        if not context.reloads.idle:
            return
        if context.reloads.awaiting:
            loaded = context.running.is_current and not context.ledger.waits
            context.reloads.has_started(worker, context.current.version if loaded else None)
        elif was_known and context.running.document is None and time.time() - context.reloads.left_at < LATE_SECONDS:
            log.warning("a reload that had failed or was left open has started a worker late (pid %d); HAProxy is reloaded", worker.pid)
            context.running.step(ReloadRequired("", context.current.fingerprint))
            context.reloads.schedule([LATE])
        elif reasons:
            context.reloads.schedule(reasons)

    def _note(self, answers: bool, text: str) -> None:
        """Log when HAProxy stops or starts to answer. If it has never answered, log the silence only if HAProxy is expected to run."""
        before, self._answers = self._answers, answers
        if before == answers or (before is None and (answers or not self._context.running.is_expected)):
            return
        log.log(logging.INFO if answers else logging.WARNING, text)


class Soundness:
    """Determines and caches whether HAProxy accepts the current text of the file."""

    def __init__(self, context: CommitContext) -> None:
        self._context = context
        self._key: Key | None = None
        self._refusal, self._since = "", 0.0
        self._work: asyncio.Task[None] | None = None

    async def refusal(self, seconds: float) -> str:
        """Return why HAProxy refuses the file; empty if HAProxy accepts the file.

        If a check does not end within `seconds`, return the result of the last check.
        """
        current, accepted = self._context.current, self._context.accepted
        try:
            program = self._context.check.words([""])[0]
            if (path := shutil.which(program)) is None:
                raise BadRequest(f'HAProxy cannot be asked about a change: "{program}" is no program that can be run')
            key = current.fingerprint, path, stamp(path)
        except (BadRequest, OSError) as error:
            return str(error)
        if self._work is None:
            if key != self._key and key[0] == accepted and (self._key is None or key[1:] == self._key[1:]):
                # HAProxy has accepted the text when it was committed.
                self._key, self._refusal = key, ""
            is_old = bool(self._refusal) and time.monotonic() - self._since > RETRY_SECONDS
            if key != self._key or is_old:
                self._work = asyncio.create_task(self._check(key))
        if self._work:
            with suppress(TimeoutError):
                await asyncio.wait_for(asyncio.shield(self._work), seconds)
        return self._refusal

    async def _check(self, key: Key) -> None:
        refusal, context = "", self._context
        try:
            await check(context.current.file.checked(context.current.document), context.check, home=await context.find_working_directory())
        except NativeError as error:
            refusal = str(error)
        finally:
            self._work = None
        self._key, self._refusal, self._since = key, refusal, time.monotonic()
