"""Share file, process, stores, locks, history and observers between all commits of one haproxy.cfg."""

import asyncio
import time
import uuid
from collections import deque
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from haproxy_native.changes.file_operations import FileStore
from haproxy_native.check.check import Checked, CheckSettings, check
from haproxy_native.check.messages import Message
from haproxy_native.check.run import checks
from haproxy_native.commit.change import Published, Texts
from haproxy_native.commit.current import Current
from haproxy_native.commit.events import Edited, Events, Validated
from haproxy_native.commit.ledger import Ledger
from haproxy_native.commit.ports import Observer, OverriddenMembers, Recorder
from haproxy_native.commit.running import RunningProcess
from haproxy_native.disk.backups import Backups
from haproxy_native.disk.database import Database
from haproxy_native.disk.file import drafts_aside, drafts_directory
from haproxy_native.disk.path_errors import owner_of
from haproxy_native.editing.file_references import base_directory, with_named_base
from haproxy_native.errors import Refused, Unreadable
from haproxy_native.planning.observed import Claimed
from haproxy_native.process_state import ConfigurationText, Load, LoadsEnded, ReloadBegan
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.working_directory import WorkingDirectory
from haproxy_native.shares import Account
from haproxy_native.text.document import Document
from haproxy_native.transactions.transactions import Transactions

# The most changes that are stored in memory while HAProxy does not load them, for example because it is stopped for days.
MOST_UNLOADED = 100


@dataclass
class CommitContext:
    """What all commits of one haproxy.cfg share. `Engine` creates and owns it.

    There are three locks, acquired in this order (docs/locks.md). Changes of stored files hold `stored_lock`. A change holds `lock` from
    its last comparison to the end of its publication. Code that sends commands to the process holds `process_lock`. `lock` and
    `process_lock` are not held while HAProxy checks or loads a text. While a reload is in progress (`load`), only changes that need no
    reload are published; all others wait for `load_over`.
    """

    current: Current
    running: RunningProcess
    transactions: Transactions
    backups: Backups
    check: CheckSettings
    runtime: Runtime
    database: Database
    # Returns a sentence about the entry of a stored map that names a backend, given the document and the backend; empty if none does.
    find_entry: Callable[[Document, str], str]
    reloads: ReloadAgent
    ledger: Ledger
    stores: Mapping[str, FileStore] = field(default_factory=dict)
    events: Events = field(default_factory=Events)
    # Called in the order in which they were added.
    observers: list[Observer] = field(default_factory=list)
    recorder: Recorder = field(default_factory=Recorder)
    working_directory: WorkingDirectory = field(default_factory=lambda: WorkingDirectory(""))
    stored_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    process_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    # Set when the reload in progress has ended.
    load_over: asyncio.Event = field(default_factory=asyncio.Event)
    # The number of changes of stored files so far, and by path the number of each file's last change.
    publications: int = 0
    published: dict[Path, int] = field(default_factory=dict)
    # Commits that have not ended.
    works: set[asyncio.Task[Any]] = field(default_factory=set)
    # The fingerprint of the last committed text that HAProxy has accepted.
    accepted: str = ""
    # Whether every change raises Forbidden.
    read_only: bool = False
    # The changes of the configuration since the worker last did exactly what the file says, oldest first, without those that a failed
    # reload has reverted.
    unloaded: deque[Published] = field(default_factory=lambda: deque(maxlen=MOST_UNLOADED))

    def overridden_members(self, claimed: Claimed) -> OverriddenMembers:
        """Return the overridden members, which a change leaves as they are; empty if the change claims no servers."""
        return next((dict(members) for observer in self.observers if claimed and (members := observer.overridden_members())), {})

    def judges(self, author: Author) -> bool:
        """Return whether an observer has to judge the changes of this author."""
        return any(observer.judges(author) for observer in self.observers)

    def is_confirmed(self, confirmation: str) -> bool | None:
        """Return whether a change was confirmed; None while that is undecided. `confirmation`: the id for which the change waits."""
        return next((answer for observer in self.observers if (answer := observer.is_confirmed(confirmation)) is not True), True)

    @property
    def pending(self) -> str | None:
        """The id of a scheduled reload that will read the file as it is now; None if there is none."""
        return self.reloads.pending

    def edited(self, current: Current, before: Document, version: int) -> None:
        """Record that another process has edited a file, and send the event.

        `before`, `version`: the document and the version before the edit.
        """
        versions, texts = (version, current.version), Texts(before, current.document)
        if current is self.current:
            if self.running.document is before and not self.running.is_doubtful:
                self.unloaded.clear()
            self.unloaded.append(Published(current.version, Author(OUTSIDE), *texts))
        self.events.publish(Edited(current.path, owner_of(current.path), Author(OUTSIDE), versions, texts))

    @asynccontextmanager
    async def publishing(self) -> AsyncIterator[None]:
        """Hold `lock` and `process_lock` while the body runs."""
        async with self.lock, self.process_lock:
            yield

    @asynccontextmanager
    async def settled(self) -> AsyncIterator[None]:
        """Wait until no reload is in progress, and hold `lock` while the body runs."""
        while True:
            async with self.lock:
                if self.load is None:
                    yield
                    return
                over = self.load_over
            await over.wait()

    @asynccontextmanager
    async def publishing_files(self) -> AsyncIterator[None]:
        """Wait until no reload is in progress, and hold all locks while the body runs."""
        async with self.stored_lock, self.publishing_settled():
            yield

    @asynccontextmanager
    async def publishing_settled(self) -> AsyncIterator[None]:
        """Wait until no reload is in progress, and hold `lock` and `process_lock` while the body runs. The caller holds `stored_lock`."""
        async with self.settled(), self.process_lock:
            yield

    @property
    def load(self) -> Load | None:
        """The reload in progress; None if there is none."""
        return self.running.state.load

    @property
    def has_unloaded(self) -> bool:
        """Whether a reload is scheduled or in progress, so that the worker may lack what the file contains."""
        return self.pending is not None or self.load is not None

    async def observe(self) -> None:
        """Query the worker in service. During a reload, do nothing, because the reload queries the worker when it ends.

        If a reload waits for HAProxy to start and the worker already runs the whole file, record that reload as done. Otherwise a later
        change would get the same reload id.
        """
        if self.load is not None:
            return
        before = self.running.worker
        await self.running.observe()
        worker = self.running.worker
        if worker != before:
            # `base` uses the directory that was found last.
            await self.find_working_directory()
        if self.reloads.awaiting is None or worker is None or not self.running.state.answers:
            return
        self.mark_files_loaded()
        if self.running.is_current and not self.ledger.waits:
            self.reloads.has_started(worker, self.current.version)

    async def notice(self) -> None:
        """Detect an edit by another process, and a new worker. The caller holds the locks. Raises Unreadable."""
        await self.current.notice_in_thread()
        await self.observe()
        self.mark_files_loaded()

    def mark_files_loaded(self) -> None:
        """Remove from the ledger the stored files that were last written before the worker started: the worker has read them."""
        if worker := self.running.worker:
            self.ledger.loaded_by(worker)

    def runs_since(self, moment: float) -> int | None:
        """Return the pid of the worker if it started after this Unix time and runs all files as they are now; None otherwise."""
        worker, is_current = self.running.worker, self.running.is_current and not self.ledger.waits
        return worker.pid if worker and is_current and worker.started > moment else None

    def note_published(self, path: Path) -> None:
        """Count a change of a stored file. Commits that are checking a text that refers to the file start again."""
        self.publications += 1
        self.published[path] = self.publications

    async def check_drafts(self, files: Sequence[Checked], author: Author, transaction_id: str | None = None) -> list[Message]:
        """Check drafts with HAProxy and return its warnings. Raises Refused, CheckImpossible, BadRequest and ShareExceeded."""
        async with self.validating(author):
            return await check(files, self.check, transaction_id=transaction_id, home=await self.find_working_directory())

    async def find_working_directory(self) -> Path | None:
        """Return HAProxy's working directory, from which it loads relative paths; None if it is unknown."""
        return await asyncio.to_thread(self.working_directory.find, self.running.worker)

    def base(self, document: Document) -> str:
        """Return the directory in which relative paths of a document begin; if that is unknown, the directory of the configuration file."""
        own = self.current.path.parent
        return base_directory(document, str(own), str(self.working_directory.last or own))

    async def check_text(self, document: Document, author: Author) -> list[Message]:
        """Check a text that is not written to the file, and return HAProxy's warnings. Raises what `check_drafts` raises."""
        async with drafts_aside(wanted=self.read_only):
            own = str(self.current.path.parent.absolute())
            # A draft in another directory is checked as if it were in that of the file.
            text = with_named_base(document, own) if drafts_directory.get() else document
            drafts = await asyncio.to_thread(self.current.file.draft, text, str(uuid.uuid4()))
            try:
                return await self.check_drafts(drafts.checked(document), author)
            finally:
                drafts.discard()

    @asynccontextmanager
    async def validating(self, author: Author) -> AsyncIterator[None]:
        """Hold a check slot of the author while the body checks, then send the event of the check. Waits for the slot.

        Raises ShareExceeded.
        """
        began, outcome = time.monotonic(), "impossible"
        try:
            async with checks().turn(Account.from_author(author)):
                yield
            outcome = "accepted"
        except Refused:
            outcome = "refused"
            raise
        finally:
            self.events.publish(Validated(outcome, time.monotonic() - began))

    @asynccontextmanager
    async def loading(self) -> AsyncIterator[Load]:
        """Mark a reload as in progress while the body runs. Yield the load, with the content of the file when the reload begins."""
        current = self.current
        async with self.lock:
            with suppress(Unreadable):
                await current.notice_in_thread()
            load = Load(ConfigurationText(current.document, current.fingerprint), time.time(), current.version, current.edits)
            self.running.step(ReloadBegan(load))
            self.load_over = over = asyncio.Event()
            await self.running.flush()
        try:
            for observer in self.observers:
                await observer.loading(current.document)
            yield load
        finally:
            self.running.step(LoadsEnded())
            over.set()
