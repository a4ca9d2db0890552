"""Changes a stored file and what HAProxy has loaded from it together: the file gets the entries that the process then has.

Its order and its comments stay; what it holds that the process has yet to read is left in it.
"""

import asyncio
import errno
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from haproxy_native.changes.file_operations import Drafted, FileOperation, FollowProcess
from haproxy_native.commit.change import Change, Outcome, Reload, Validation
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.file import Draft
from haproxy_native.errors import NotFound, RuntimeAbsent, WriteFailed
from haproxy_native.planning.touches import Touch
from haproxy_native.request_context import Author
from haproxy_native.runtime.commands import Step
from haproxy_native.storage.store import Store

Item = TypeVar("Item")
EntriesEdit = Callable[[Sequence[Item]], list[Item]]


async def unchecked() -> None:
    """Nothing speaks against the change."""


@dataclass(frozen=True)
class LiveFile(ABC, Generic[Item]):
    """A file as its author changes it. What changes it raises RuntimeFailure, NotTaken, NotFound, BadValue and WriteFailed."""

    context: CommitContext
    store: Store
    path: Path
    author: Author

    @property
    def name(self) -> str:
        return str(self.path)

    @abstractmethod
    async def entries(self) -> list[Item]:
        """Returns the entries of the process, in its order."""

    @abstractmethod
    def read(self, text: str) -> list[Item]:
        """Parses a text of the file."""

    @abstractmethod
    def written(self, text: str, entries: Sequence[Item]) -> str:
        """The text with exactly these entries. Raises BadValue for one that no line can hold."""

    async def change(
        self,
        step: Step,
        edit: EntriesEdit[Item],
        *,
        whole: bool = False,
        check: Callable[[], Awaitable[None]] = unchecked,
        touched: Sequence[Touch] = (),
    ) -> None:
        """File and process. `whole`: nothing of what was there is left. `check` is made under the lock. `touched`: what changes in it."""

        async def drafted() -> Drafted:
            await check()
            return await self.drafted([step], edit, whole=whole, touched=touched)

        check_live(await self.commit(FollowProcess(f"{self.store.kind}/{self.path.name}", drafted)))

    async def commit(self, operation: FileOperation) -> Outcome:
        """What HAProxy does not take live waits for a reload that comes anyway."""
        return await commit(self.context, Change([operation], reload=Reload.LATER, validation=Validation.NEVER, author=self.author))

    async def drafted(
        self, steps: Sequence[Step], edit: EntriesEdit[Item], *, whole: bool = False, touched: Sequence[Touch] = ()
    ) -> Drafted:
        """Under the lock: the file as it will be. One that the process has not read as it is only gets the edit."""
        unread = str(self.path) in self.context.ledger.entries and not whole
        before = None if unread else await self.entries()
        draft = await asyncio.to_thread(self._edited, before, edit)
        partial = [] if whole else [self.path]
        return Drafted({self.path: draft}, {self.path: self.store}, touches=touched or None, steps={self.path: steps}, partial=partial)

    def _edited(self, before: Sequence[Item] | None, edit: EntriesEdit[Item]) -> Draft:
        """`before`: what the process has, None where only the file counts."""
        text = self.text()
        entries = edit(self.read(text) if before is None else before)
        return self.store.draft(self.path, self.written(text, entries).encode("utf-8", "surrogateescape"))

    def text(self) -> str:
        try:
            return self.store.content(self.path).decode("utf-8", "surrogateescape")
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EXDEV):
                raise NotFound(f"file {self.path.name} doesn't exist in dir: {self.path.parent}") from None
            raise WriteFailed(f"cannot read {self.path}: {error.strerror}") from error


def check_live(outcome: Outcome) -> None:
    """Checks the outcome of an operation that has no response for a later reload."""
    if not outcome.live:
        why = "; ".join(reason.why for reason in outcome.reasons)
        reload = f"reload {outcome.reload_id}" if outcome.reload_id else "the next reload"
        raise RuntimeAbsent(f"{why}{'; ' * bool(why)}the file has the change, and {reload} will make HAProxy read it", sent=True)
