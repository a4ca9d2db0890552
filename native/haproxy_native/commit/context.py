"""What a commit works on: the file, the process and their surroundings, for one haproxy.cfg."""

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
from haproxy_native.commit.change import Change, Published
from haproxy_native.commit.current import Current
from haproxy_native.commit.events import Edited, Events, Validated
from haproxy_native.commit.ledger import Ledger
from haproxy_native.commit.ports import Kept, Observers, Recorder
from haproxy_native.commit.running import Running
from haproxy_native.disk.aside import drafts_aside
from haproxy_native.disk.backups import Backups
from haproxy_native.disk.database import Database
from haproxy_native.disk.ownership import owner_of
from haproxy_native.errors import Refused, Unreadable
from haproxy_native.planning.observed import Observed
from haproxy_native.planning.plan import Plan
from haproxy_native.process_state import Load, LoadsEnded, ReloadBegan, Text
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.runtime.capabilities import Capabilities
from haproxy_native.runtime.client import Runtime
from haproxy_native.shares import Caller
from haproxy_native.text.document import Document
from haproxy_native.transactions.transactions import Transactions

Planner = Callable[[Document, Document, Capabilities, Observed | None], Plan]
# Of what HAProxy has not loaded, for a HAProxy that is stopped for days.
MOST_UNLOADED = 100


@dataclass
class CommitContext:
    """`lock` is held from the last comparison of a change to its publication, runtime commands included; never while HAProxy checks or
    loads a text. While `load`, a reload, is at work, only changes are published that need no reload; all else waits until `load_over`.
    Changes of stored files hold `stored_lock` as well, which is taken first. `process_lock` is taken last, by every change that sends
    commands; one of the process alone takes no other.

    `observers` take part in commits and reloads, and the `recorder` keeps entries of changes; they join while they are open.

    With `read_only` no change is made: each raises Forbidden.

    `published`: the number of the last change of each stored file. `works`: commits that have not ended. `accepted`: the fingerprint of
    the last committed text that HAProxy accepted. `unloaded`: the last changes of the
    configuration since the worker in service did exactly what the file says, in their order; what a failed reload has taken back is none
    of them.
    """

    current: Current
    running: Running
    transactions: Transactions
    backups: Backups
    check: CheckSettings
    runtime: Runtime
    database: Database
    plan: Planner
    reloads: ReloadAgent
    ledger: Ledger
    stores: Mapping[str, FileStore] = field(default_factory=dict)
    events: Events = field(default_factory=Events)
    observers: Observers = field(default_factory=Observers)
    recorder: Recorder = field(default_factory=Recorder)
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    stored_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    process_lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    load_over: asyncio.Event = field(default_factory=asyncio.Event)
    published: dict[Path, int] = field(default_factory=dict)
    publications: int = 0
    works: set[asyncio.Task[Any]] = field(default_factory=set)
    accepted: str = ""
    read_only: bool = False
    unloaded: deque[Published] = field(default_factory=lambda: deque(maxlen=MOST_UNLOADED))

    def kept_members(self, change: Change) -> Kept:
        """The members that a change of claimed servers leaves as others have set them in the process; none if it claims none."""
        return dict(self.observers.kept_members()) if change.claimed else {}

    @property
    def pending(self) -> str | None:
        """The id of a scheduled reload that will read what the file holds now."""
        return self.reloads.pending

    def edited(self, current: Current, before: Document, version: int) -> None:
        """Records an edit of a file from outside."""
        versions, texts = (version, current.version), (before, current.document)
        if current is self.current:
            if self.running.document is before and not self.running.is_doubtful:
                self.unloaded.clear()
            self.unloaded.append(Published(current.version, Author(OUTSIDE), *texts))
        self.events.tell(Edited(current.path, owner_of(current.path), Author(OUTSIDE), versions, texts))

    @asynccontextmanager
    async def publishing(self) -> AsyncIterator[None]:
        """Holds `lock` and `process_lock`."""
        async with self.lock, self.process_lock:
            yield

    @asynccontextmanager
    async def settled(self) -> AsyncIterator[None]:
        """Holds `lock` while no reload is at work."""
        while True:
            async with self.lock:
                if self.load is None:
                    yield
                    return
                over = self.load_over
            await over.wait()

    @asynccontextmanager
    async def publishing_files(self) -> AsyncIterator[None]:
        """Holds all locks, while no reload is at work."""
        async with self.stored_lock, self.publishing_settled():
            yield

    @asynccontextmanager
    async def publishing_settled(self) -> AsyncIterator[None]:
        """The same for a caller that holds `stored_lock`."""
        async with self.settled(), self.process_lock:
            yield

    @property
    def load(self) -> Load | None:
        """The reload at work."""
        return self.running.state.load

    @property
    def has_unloaded(self) -> bool:
        """True if a reload is scheduled or at work, so that the worker in service may lack what the file holds."""
        return self.pending is not None or self.load is not None

    async def observe(self) -> None:
        """Asks for the worker in service; while HAProxy loads a text the reload does so when it is over.

        Where that worker does what the file says, it ends a reload that waits for HAProxy's start: a later change must not share its id.
        """
        if self.load is None:
            await self.running.observe()
            self._end_awaited()

    async def notice(self) -> None:
        """Takes note of another text and of another worker. The caller holds the locks."""
        await self.current.notice_aside()
        await self.observe()
        self.mark_files_loaded()

    def _end_awaited(self) -> None:
        worker = self.running.worker
        if self.reloads.awaiting is None or worker is None or not self.running.state.answers:
            return
        self.mark_files_loaded()
        if self.running.is_current and not self.ledger.waits:
            self.reloads.has_started(worker, self.current.version)

    def mark_files_loaded(self) -> None:
        """Remove stored files from the ledger that the worker has read, since it started after they were written."""
        if worker := self.running.worker:
            self.ledger.loaded_by(worker)

    def runs_since(self, moment: float) -> int | None:
        """The pid of the worker in service, if it started after this Unix time and does what the files say."""
        worker, is_current = self.running.worker, self.running.is_current and not self.ledger.waits
        return worker.pid if worker and is_current and worker.started > moment else None

    def note_published(self, path: Path) -> None:
        """Counts a change of a stored file; texts that refer to it and are being checked are checked again."""
        self.publications += 1
        self.published[path] = self.publications

    async def ask_haproxy(self, files: Sequence[Checked], by: Author, transaction_id: str | None = None) -> list[Message]:
        """Checks drafts of the files with HAProxy and returns its warnings.

        Raises Refused, CheckImpossible, BadRequest and ShareExceeded.
        """
        async with self.validating(by):
            return await check(files, self.check, transaction_id=transaction_id)

    async def check_text(self, document: Document, by: Author) -> list[Message]:
        """Return HAProxy's warnings about a text that becomes no file. Raises what `ask_haproxy` raises."""
        async with drafts_aside(wanted=self.read_only):
            drafts = await asyncio.to_thread(self.current.file.draft, document, str(uuid.uuid4()))
            try:
                return await self.ask_haproxy(drafts.checked(document), by)
            finally:
                drafts.discard()

    @asynccontextmanager
    async def validating(self, by: Author) -> AsyncIterator[None]:
        """Records its body as one check by HAProxy, which begins when it is the caller's turn. Raises ShareExceeded."""
        began, outcome = time.monotonic(), "impossible"
        try:
            async with checks().turn(Caller.of(by)):
                yield
            outcome = "accepted"
        except Refused:
            outcome = "refused"
            raise
        finally:
            self.events.tell(Validated(outcome, time.monotonic() - began))

    @asynccontextmanager
    async def loading(self) -> AsyncIterator[Load]:
        """A reload at work, until its outcome is known."""
        current = self.current
        async with self.lock:
            with suppress(Unreadable):
                await current.notice_aside()
            load = Load(Text(current.document, current.fingerprint), time.time(), current.version, current.edits)
            self.running.step(ReloadBegan(load))
            self.load_over = over = asyncio.Event()
            await self.running.flush()
        try:
            await self.observers.loading(current.document)
            yield load
        finally:
            self.running.step(LoadsEnded())
            over.set()
