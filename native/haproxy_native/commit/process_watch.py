"""Looks every second which worker answers: logs when HAProxy is gone and back, and settles a reload that waits for its start."""

import asyncio
import logging
import time

from haproxy_native.commit.context import Site
from haproxy_native.errors import RuntimeFailure
from haproxy_native.planning.outcome import Reason
from haproxy_native.runtime.client import Worker

log = logging.getLogger(__name__)
SECONDS, SECONDS_WHILE_AWAITED = 1.0, 0.2
PATIENCE = 2.0
# How long after a failed reload a worker may still come of it.
LATE_SECONDS = 120.0
LATE = Reason("", 0, "", "a worker has started late, with a configuration that had been put back")


class ProcessWatch:
    """`run` until it is cancelled."""

    def __init__(self, site: Site) -> None:
        self._site = site
        self._answers: bool | None = None

    async def run(self) -> None:
        while True:
            await self.look()
            await asyncio.sleep(SECONDS_WHILE_AWAITED if self._site.reloads.awaiting else SECONDS)

    async def look(self) -> None:
        try:
            async with asyncio.timeout(PATIENCE):
                worker = await self._site.runtime.worker()
        except RuntimeFailure as error:
            self._note(False, f"HAProxy does not answer: {error}")
            return
        except TimeoutError:
            # One that starts may take a connection and lose it.
            self._note(False, f"HAProxy does not answer: {self._site.runtime.address}: no answer within {PATIENCE:g} s")
            return
        self._note(True, f"HAProxy answers again (pid {worker.pid})")
        known = self._site.memory.value
        if self._site.reloads.awaiting or (worker.pid, worker.started) != (known.pid, known.started):
            async with self._site.lock:
                await self._settle(worker)

    async def _settle(self, worker: Worker) -> None:
        site = self._site
        known = site.running.document
        await site.running.observe()
        site.stored.loaded_by(worker)
        if not site.reloads.idle:
            return
        if site.reloads.awaiting:
            loaded = site.running.is_current and not site.stored.waits
            site.reloads.has_started(worker, site.current.version if loaded else None)
        elif known and site.running.document is None and time.time() - site.reloads.failed_at < LATE_SECONDS:
            log.warning("a worker (pid %d) has started late, after its reload had been given up; HAProxy is reloaded", worker.pid)
            site.memory.owe("", site.current.fingerprint)
            site.reloads.schedule([LATE])

    def _note(self, answers: bool, text: str) -> None:
        """The log tells of changes only, and of a HAProxy that has never answered where one is expected."""
        before, self._answers = self._answers, answers
        if before == answers or (before is None and (answers or not self._site.running.is_expected)):
            return
        log.log(logging.INFO if answers else logging.WARNING, text)
