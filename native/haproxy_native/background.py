"""Run background tasks, and wake all polling tasks at the same moment of a second."""

import asyncio
import logging
import math
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


async def next_second() -> None:
    """Sleep until the event loop's clock begins its next second. All tasks that poll wake up together, which saves processor time."""
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(math.floor(now) + 1 - now)


class Background:
    """Owns background tasks until they end or `stop` cancels them.

    If an exception ends a task, it is logged; `what` names the work in the log.
    """

    def __init__(self, what: str) -> None:
        self._what = what
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        """Start a task and keep a reference to it until it ends."""

        def log_failure(task: asyncio.Task[None]) -> None:
            self._tasks.discard(task)
            if not task.cancelled() and (error := task.exception()):
                log.error("%s failed unexpectedly", self._what, exc_info=error)

        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(log_failure)
        return task

    async def stop(self) -> None:
        """Cancel all tasks and wait until they have ended."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
