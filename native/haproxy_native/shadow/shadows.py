"""Shadows that are kept running: by text, few at a time, ended when nobody has asked them for a while."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from haproxy_native.shadow.process import NONE, Files, ShadowProcess, start
from haproxy_native.text.document import Document

MOST, IDLE_SECONDS = 2, 60.0


@dataclass
class _Kept:
    process: ShadowProcess
    users: int = 0
    until: float = 0.0
    timer: asyncio.TimerHandle | None = field(default=None)


class Shadows:
    """At most `MOST` run at once; who asks for another waits for one to be free."""

    def __init__(self, binary: str, home: Path) -> None:
        self._binary, self._home = binary, home
        self._kept: dict[bytes, _Kept] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()
        self._free = asyncio.Condition()

    @asynccontextmanager
    async def of(self, document: Document, key: bytes, files: Files = NONE) -> AsyncIterator[ShadowProcess]:
        """`key` changes with the text and with the files that it names. `files` as in `start`. Raises NoShadow and OSError."""
        kept = await self._used(document, key, files)
        try:
            yield kept.process
        finally:
            await self._released(key, kept)

    async def close(self) -> None:
        for key in list(self._kept):
            await self._end(key)
        await asyncio.gather(*self._ending)

    async def _used(self, document: Document, key: bytes, files: Files) -> _Kept:
        async with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept.process.ended:
                if kept:
                    await self._end(key)
                await self._room()
                kept = self._kept[key] = _Kept(await start(document, self._binary, self._home, files=files))
            kept.users += 1
            if kept.timer:
                kept.timer.cancel()
            return kept

    async def _room(self) -> None:
        """Ends the one that is unused for longest; waits where all are in use."""
        while len(self._kept) >= MOST:
            unused = [key for key, each in self._kept.items() if not each.users]
            if unused:
                await self._end(min(unused, key=lambda key: self._kept[key].until))
            else:
                async with self._free:
                    await self._free.wait()

    async def _released(self, key: bytes, kept: _Kept) -> None:
        kept.users -= 1
        loop = asyncio.get_running_loop()
        kept.until = loop.time()
        if not kept.users:
            kept.timer = loop.call_later(IDLE_SECONDS, self._idle, key, kept)
        async with self._free:
            self._free.notify_all()

    def _idle(self, key: bytes, kept: _Kept) -> None:
        if self._kept.get(key) is kept and not kept.users:
            task = asyncio.get_running_loop().create_task(self._end(key))
            self._ending.add(task)
            task.add_done_callback(self._ending.discard)

    async def _end(self, key: bytes) -> None:
        if kept := self._kept.pop(key, None):
            if kept.timer:
                kept.timer.cancel()
            await kept.process.close()
