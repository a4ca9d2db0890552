"""Dumps and deletions of one worker, kept apart: HAProxy up to 3.4 may crash when a server or a backend is deleted while a dump walks
over them, and when a dump is cut short. Both are fixed in 3.5; whether an older patch release has the fixes cannot be asked.
"""

import asyncio
import re
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import asynccontextmanager
from typing import Any, TypeVar

_DUMP = re.compile(r"show (?:servers|backend|errors)\b")
_DELETION = re.compile(r"del (?:server|backend)\b")
Result = TypeVar("Result")


class Gate:
    """A gate for all connections to one worker. Dumps pass together, a deletion alone; a waiting deletion is next."""

    def __init__(self) -> None:
        self._deletes = False
        self._dumps: set[asyncio.Task[Any]] = set()
        self._changed = asyncio.Event()

    async def passed(self, commands: Sequence[str], work: Callable[[], Coroutine[Any, Any, Result]]) -> Result:
        """The result of a request of these commands. A dump goes on to its end when the caller is cancelled or out of time."""
        if any(map(_DELETION.match, commands)):
            async with self._alone():
                return await work()
        if not any(map(_DUMP.match, commands)):
            return await work()
        await self._until(lambda: not self._deletes)
        task = asyncio.create_task(work())
        self._dumps.add(task)
        task.add_done_callback(self._ended)
        return await asyncio.shield(task)

    @asynccontextmanager
    async def _alone(self) -> AsyncIterator[None]:
        await self._until(lambda: not self._deletes)
        self._deletes = True
        try:
            await self._until(lambda: not self._dumps)
            yield
        finally:
            self._deletes = False
            self._changed.set()

    async def _until(self, is_free: Callable[[], bool]) -> None:
        while not is_free():
            self._changed.clear()
            await self._changed.wait()

    def _ended(self, task: asyncio.Task[Any]) -> None:
        self._dumps.discard(task)
        self._changed.set()
        # Looked at, whether or not the caller still waits.
        task.cancelled() or task.exception()
