"""All that a commit works on: the file, the process and what surrounds them, for one haproxy.cfg."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from haproxy_native.check.check import Checked, CheckSettings, check
from haproxy_native.check.messages import Message
from haproxy_native.commit.current import Current
from haproxy_native.commit.ledger import Ledger
from haproxy_native.commit.running import Running
from haproxy_native.commit.state_file import StateFile
from haproxy_native.disk.backups import Backups
from haproxy_native.errors import Refused, Unreadable
from haproxy_native.events import Events, Validated
from haproxy_native.planning.plan import Plan
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.client import Runtime
from haproxy_native.text.document import Document
from haproxy_native.transactions.transactions import Transactions

Planner = Callable[[Document, Document, Capabilities], Plan]


class LoadedText(NamedTuple):
    """What HAProxy is made to read."""

    document: Document
    fingerprint: str
    version: int


@dataclass
class CommitContext:
    """`lock` is held from the last comparison of a change to its publication, with what is sent to the worker, and by a reload at work:
    never while HAProxy checks anything. `stored_lock` is held in addition, outside it, by changes of stored files.

    `published` has for each stored file that was changed the number of that change. `works`: commits that
    have not ended. `accepted` is the fingerprint of the last committed text that HAProxy accepted.
    """

    current: Current
    running: Running
    transactions: Transactions
    backups: Backups
    check: CheckSettings
    runtime: Runtime
    state_file: StateFile
    plan: Planner
    reloads: ReloadAgent
    ledger: Ledger
    events: Events = field(default_factory=Events)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    stored_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    published: dict[Path, int] = field(default_factory=dict)
    publications: int = 0
    works: set[asyncio.Task[Any]] = field(default_factory=set)
    accepted: str = ""

    @property
    def pending(self) -> str | None:
        """The id of a scheduled reload that will read what the file holds now."""
        return self.reloads.pending

    def note_published(self, path: Path) -> None:
        """A stored file is another one now: texts that refer to it have to be checked anew."""
        self.publications += 1
        self.published[path] = self.publications

    async def ask_haproxy(self, files: Sequence[Checked], transaction_id: str | None = None) -> list[Message]:
        """HAProxy's warnings about drafts of the files. Raises Refused, CheckImpossible and BadRequest."""
        with self.validating():
            return await check(files, self.check, transaction_id=transaction_id)

    @contextmanager
    def validating(self) -> Iterator[None]:
        """What is done inside counts as one check by HAProxy."""
        began, outcome = time.monotonic(), "impossible"
        try:
            yield
            outcome = "accepted"
        except Refused:
            outcome = "refused"
            raise
        finally:
            self.events.tell(Validated(outcome, time.monotonic() - began))

    @asynccontextmanager
    async def loading(self) -> AsyncIterator[LoadedText]:
        """While HAProxy reads the file, and until its outcome is known, nobody changes it."""
        async with self.lock:
            with suppress(Unreadable):
                await self.current.notice_aside()
            yield LoadedText(self.current.document, self.current.fingerprint, self.current.version)
