"""Looks every second which worker answers: logs when HAProxy is gone and back, and settles a reload that waits for its start.

It also saves the text that a failed reload restores, which changes at runtime do not write.
"""

import asyncio
import logging
import time

from haproxy_native.background import next_second
from haproxy_native.commit import aftermath
from haproxy_native.commit.context import CommitContext
from haproxy_native.errors import RuntimeFailure
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import ReloadRequired
from haproxy_native.runtime.client import Worker

log = logging.getLogger(__name__)
SECONDS_WHILE_AWAITED = 0.2
PATIENCE = 2.0
# How long HAProxy may take from the opening of its sockets to an answer.
START_SECONDS = 1.0
# How long a worker may still come of a reload that has failed, or that a former process of this server has left open.
LATE_SECONDS = 120.0
LATE = Reason("", 0, "", "a worker has come late of a former reload, and nothing tells what it has read")


class ProcessWatch:
    """`run` until it is cancelled."""

    def __init__(self, context: CommitContext) -> None:
        self._context = context
        self._answers: bool | None = None
        # The worker that was seen last, and whether it was known what it had loaded.
        self._seen: tuple[Worker | None, bool] = None, False

    async def run(self) -> None:
        while True:
            await self.look()
            await (asyncio.sleep(SECONDS_WHILE_AWAITED) if self._context.reloads.awaiting else next_second())

    async def look(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                worker = await self._context.runtime.worker()
        except RuntimeFailure as error:
            self._note(False, f"HAProxy does not answer: {error}")
            if (opened := self._context.runtime.last_opened()) < time.time() - START_SECONDS:
                self._context.reloads.note_start(opened)
            return
        except TimeoutError:
            # One that starts may take a connection and lose it.
            self._note(False, f"HAProxy does not answer: {self._context.runtime.address}: no answer within {PATIENCE:g} s")
            return
        self._note(True, f"HAProxy answers again (pid {worker.pid})")
        running = self._context.running
        is_new = worker != running.worker
        # A request may have met it first, and found that it is not known.
        is_unknown = worker != self._seen[0] and running.document is None
        if self._context.reloads.awaiting or is_new or is_unknown:
            async with self._context.settled(), self._context.process_lock:
                await (self._context.observe() if self._context.read_only else self._settle(worker))
        self._seen = worker, running.document is not None
        running.save_last_good()

    async def _settle(self, worker: Worker) -> None:
        context = self._context
        was_known = self._seen[1] or context.running.document is not None
        await context.observe()
        context.mark_files_loaded()
        aftermath.settle(context)
        reasons = await aftermath.apply_missing(context)
        if not context.reloads.idle:
            return
        if context.reloads.awaiting:
            loaded = context.running.is_current and not context.ledger.waits
            context.reloads.has_started(worker, context.current.version if loaded else None)
        elif was_known and context.running.document is None and time.time() - context.reloads.left_at < LATE_SECONDS:
            log.warning("a worker (pid %d) has come late of a reload that had been given up or left open; HAProxy is reloaded", worker.pid)
            context.running.step(ReloadRequired("", context.current.fingerprint))
            context.reloads.schedule([LATE])
        elif reasons:
            context.reloads.schedule(reasons)

    def _note(self, answers: bool, text: str) -> None:
        """The log tells of changes only, and of a HAProxy that has never answered where one is expected."""
        before, self._answers = self._answers, answers
        if before == answers or (before is None and (answers or not self._context.running.is_expected)):
            return
        log.log(logging.INFO if answers else logging.WARNING, text)
