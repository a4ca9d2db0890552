"""Background tasks, and the second in which they poll."""

import asyncio
import logging
import math
from collections.abc import Coroutine
from typing import Any

log = logging.getLogger(__name__)


async def next_second() -> None:
    """Sleep until the clock of the event loop begins another second, so that the process wakes up once for all that poll."""
    now = asyncio.get_running_loop().time()
    await asyncio.sleep(math.floor(now) + 1 - now)


class Background:
    """Tasks that run until they are done or cancelled. An unexpected exception is logged; `what` names the work there."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._tasks: set[asyncio.Task[None]] = set()

    def begin(self, work: Coroutine[Any, Any, None]) -> asyncio.Task[None]:
        task = asyncio.create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._done)
        return task

    async def stop(self) -> None:
        """Cancel all tasks, and return when they have cleaned up."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)

    def _done(self, task: asyncio.Task[None]) -> None:
        self._tasks.discard(task)
        if not task.cancelled() and (error := task.exception()):
            log.error("%s failed unexpectedly", self._what, exc_info=error)
