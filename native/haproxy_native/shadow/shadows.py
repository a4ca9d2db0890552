"""Run a few shadows, one for each text, and end a shadow that has received no request for a minute.

All callers of one text share a shadow. They also share one of the `MOST` slots that limit how many texts are in use at once. An unused
shadow keeps running for `IDLE_SECONDS`, unless a shadow of another text has to replace it.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from haproxy_native.check.run import SHADOWS
from haproxy_native.errors import ShareExceeded
from haproxy_native.shadow.files import NONE, Files
from haproxy_native.shadow.process import ClientRequest, Conditions, RequestOutcome, ShadowProcess, start
from haproxy_native.shadow.rewrite import Shadow
from haproxy_native.shares import MOST_WAITING, Account, Slot, Turns
from haproxy_native.text.document import Document

MOST, IDLE_SECONDS = SHADOWS, 60.0


@dataclass
class _Entry:
    starting: asyncio.Task[ShadowProcess]
    users: int = 0
    unused_since: float = 0.0
    timer: asyncio.TimerHandle | None = field(default=None)

    @property
    def ended(self) -> bool:
        """Whether the shadow did not start, has ended, or is spent."""
        if not self.starting.done():
            return False
        if self.starting.cancelled() or self.starting.exception():
            return True
        return self.starting.result().ended or self.starting.result().is_spent


@dataclass(frozen=True)
class ShadowClient:
    """Sends requests to the shadow of a text. If that shadow is spent, starts a new shadow of the text."""

    # The rewritten text.
    shadow: Shadow
    _caller: Account
    _shadows: "Shadows"
    _document: Document
    _key: bytes
    _files: Files

    async def send_request(self, sent: ClientRequest, servers: Conditions | None = None) -> RequestOutcome:
        """Send a request while the servers have the states in `servers`, or else the states that the text declares. Return the outcome.

        Raises NoShadow, OSError and ShareExceeded.
        """
        while True:
            async with self._shadows.use(self._document, self._key, self._files, caller=self._caller) as process:
                if outcome := await process.send_request(sent, servers):
                    return outcome


@dataclass
class _Use:
    """The callers that use the shadow of one text. They share one slot, which is charged to the first caller."""

    slot: Slot
    callers: list[Account]


class Shadows:
    """Owns the shadow processes. At most `MOST` texts are in use at once; other callers wait for their turn (haproxy_native.shares).

    Shadows get the environment variables that the files `in_force` name. `directory` returns HAProxy's working directory, or None if it is
    unknown.
    """

    def __init__(
        self, binary: str, home: Path, in_force: Callable[[], Sequence[Path]], directory: Callable[[], Awaitable[Path | None]] | None = None
    ) -> None:
        # A path holds in every working directory.
        self._binary = os.path.abspath(binary) if "/" in binary else binary
        self._home, self._in_force, self._directory = home, in_force, directory
        self._entries: dict[bytes, _Entry] = {}
        self._ending: set[asyncio.Task[None]] = set()
        self._lock = asyncio.Lock()
        self._turns = Turns(MOST, "requests that explain other texts or test them")
        self._uses: dict[bytes, _Use] = {}

    @asynccontextmanager
    async def use(self, document: Document, key: bytes, files: Files = NONE, *, caller: Account) -> AsyncIterator[ShadowProcess]:
        """Yield the shadow of a text, and start it if necessary. While the body runs, the text has a slot. Waits for the slot.

        `key` identifies the text and the contents of the files that it names. `files`: as in `start`. Raises NoShadow, OSError, Unusable
        and ShareExceeded.
        """
        async with self._hold_slot(caller, key):
            entry = self._usable(key) or await self._start_shadow(document, key, files)
            entry.users += 1
            if entry.timer:
                entry.timer.cancel()
            try:
                # All callers of a text wait for one start.
                yield await asyncio.shield(entry.starting)
            finally:
                entry.users -= 1
                loop = asyncio.get_running_loop()
                entry.unused_since = loop.time()
                if not entry.users and entry.starting.done():
                    entry.timer = loop.call_later(IDLE_SECONDS, self._end_if_unused, key, entry)
                elif not entry.users and self._entries.get(key) is entry:
                    # Its callers have been cancelled during the start.
                    self._end(key)

    @asynccontextmanager
    async def _hold_slot(self, caller: Account, key: bytes) -> AsyncIterator[None]:
        """Hold a slot for the text that `key` identifies. All callers of a text share its slot. Waits for a slot. Raises ShareExceeded."""
        if key not in self._uses:
            slot = await self._turns.acquire(caller)
            if key in self._uses:
                # Others have begun to use this text during the wait.
                self._turns.release(slot)
            else:
                self._uses[key] = _Use(slot, [])
        use = self._uses[key]
        if caller.is_limited and use.callers.count(caller) >= MOST_WAITING:
            raise ShareExceeded(f"{MOST_WAITING} requests of {caller.name} explain or test this text, as many as may; try again later")
        use.callers.append(caller)
        try:
            yield
        finally:
            use.callers.remove(caller)
            if use.callers:
                self._turns.pass_on(use.slot, use.callers[0])
            else:
                del self._uses[key]
                self._turns.release(use.slot)

    @asynccontextmanager
    async def client(self, document: Document, key: bytes, files: Files = NONE, *, caller: Account) -> AsyncIterator[ShadowClient]:
        """Yield a `ShadowClient` for a text. The arguments are those of `use`."""
        async with self.use(document, key, files, caller=caller) as process:
            yield ShadowClient(process.shadow, caller, self, document, key, files)

    async def close(self) -> None:
        """End all shadows and wait until they have ended."""
        for key in list(self._entries):
            self._end(key)
        await asyncio.gather(*self._ending)

    def _usable(self, key: bytes) -> _Entry | None:
        entry = self._entries.get(key)
        return entry if entry and not entry.ended else None

    async def _start_shadow(self, document: Document, key: bytes, files: Files) -> _Entry:
        async with self._lock:
            if (entry := self._usable(key)) is None:
                if key in self._entries:
                    await self._end(key)
                # End the shadows that have been unused longest, until one more may run. Shadows in use stay: `_turns` limits how many
                # texts are in use at once.
                while len(self._entries) >= MOST and (unused := [key for key, shadow in self._entries.items() if not shadow.users]):
                    await self._end(min(unused, key=lambda key: self._entries[key].unused_since))
                directory = await self._directory() if self._directory else None
                starting = start(document, self._binary, self._home, self._in_force(), files=files, directory=directory)
                entry = self._entries[key] = _Entry(asyncio.create_task(starting))
            return entry

    def _end_if_unused(self, key: bytes, entry: _Entry) -> None:
        if self._entries.get(key) is entry and not entry.users:
            self._end(key)

    def _end(self, key: bytes) -> asyncio.Future[None]:
        """Begin to end a shadow, and return a future for its end. Cancelling the future does not keep the shadow alive."""
        entry = self._entries.pop(key)
        if entry.timer:
            entry.timer.cancel()

        async def end() -> None:
            entry.starting.cancel()
            await asyncio.wait([entry.starting])
            if not entry.starting.cancelled() and not entry.starting.exception():
                await entry.starting.result().close()

        task = asyncio.get_running_loop().create_task(end())
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return asyncio.shield(task)
