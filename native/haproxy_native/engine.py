"""`Engine`: reads and changes one haproxy.cfg and the HAProxy that runs it.

Reads are synchronous and never wait. Every change goes through one commit (native/haproxy_native/commit/commit.py).
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from haproxy_native.background import Background, next_second
from haproxy_native.beside import beside
from haproxy_native.changes.expect import ANY, Expect, Rebase, Version
from haproxy_native.changes.operations import Edit, PutText, text_as_sent
from haproxy_native.check.messages import Message
from haproxy_native.commit import after_reload, permission, publication
from haproxy_native.commit.after_reload import resume
from haproxy_native.commit.change import Candidate, Change, Operation, Outcome, Reload, Texts
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import Planner
from haproxy_native.commit.events import Reloaded
from haproxy_native.commit.preparation import text_of, with_base
from haproxy_native.commit.preview import Preview, permit_preview, preview, would_reload
from haproxy_native.commit.transaction_commit import commit_of, committed, preview_of
from haproxy_native.commit.watch import ProcessWatch, Soundness
from haproxy_native.disk.database import Database
from haproxy_native.editing.header import same_text
from haproxy_native.engine_context import context_of
from haproxy_native.engine_settings import EngineSettings
from haproxy_native.errors import (
    BadRequest,
    NoTransaction,
    Unreadable,
)
from haproxy_native.process_state import Load
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.reload.records import Record
from haproxy_native.request_context import Author
from haproxy_native.runtime.client import Runtime
from haproxy_native.storage.live_maps import MapSync
from haproxy_native.storage.map_store import MapStore
from haproxy_native.storage.stores import Stores
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.transactions.store import Transaction

log = logging.getLogger(__name__)
SETTLING_SECONDS = 0.1
_ONLY_ONE = "both version and transaction specified, specify only one"
_NEITHER = "version or transaction not specified: name the version that is to be changed, or a transaction"


class Engine:
    """`start` before anything else, `close` at the end. `reloads` makes the agent, whose host the engine can be."""

    def __init__(
        self, settings: EngineSettings, runtime: Runtime, reloads: Callable[["Engine"], ReloadAgent], *, plan: Planner | None = None
    ) -> None:
        self.settings, self.runtime, self.stores = settings, runtime, Stores(settings.directories, settings.storage)
        self.database = Database(settings.storage / "state")
        self.reloads = reloads(self)
        self.context = context_of(settings, runtime, self.reloads, self.stores, self.database, plan)
        self.soundness, self._watching = Soundness(self.context), Background("watching the files")

    async def start(self) -> None:
        """Finishes what a crash cut off and reads everything. Raises Unreadable."""
        with suppress(OSError):
            self.settings.storage.mkdir(mode=0o750, parents=True, exist_ok=True)
        try:
            if self.context.current.file.recover():
                log.warning("%s was half written and has been completed", self.settings.file)
        except OSError as error:
            log.error("%s may be half written, and cannot be completed: %s", self.settings.file, error)
        writes = not self.settings.read_only
        known = self.context.current.open()
        self.context.transactions.load()
        self.context.ledger.open()
        await asyncio.to_thread(self.stores.recover)
        await self.context.running.restore()
        if writes:
            await publication.resume(self.context, self.stores)
            await resume(self.context, edited=not known)
        self._watching.begin(ProcessWatch(self.context).run())
        if self.context.transactions.ttl:
            self._watching.begin(self.context.transactions.keep_ending())
        if self.settings.watch:
            self._watching.begin(self._watch())
        if self.settings.map_sync and writes and isinstance(maps := self.stores.get("maps"), MapStore):
            self._watching.begin(MapSync(self.context, maps, self.settings.map_sync).run())

    async def close(self) -> None:
        """Returns when all commits at work have ended, and what was pending has been carried out."""
        while self.context.works:
            await asyncio.wait(self.context.works)
        await self.reloads.close()
        await self._watching.stop()
        await asyncio.to_thread(self.context.transactions.close)
        await asyncio.to_thread(self.database.close)

    # -- reading

    @property
    def document(self) -> Document:
        return self.context.current.document

    @property
    def running(self) -> Document | None:
        """Returns the running document; None if it is unknown what HAProxy has loaded."""
        return self.context.running.document

    def version(self, transaction_id: str | None = None) -> int:
        """The current one, or that which a transaction started from; 0 for a transaction that is not in progress."""
        if not transaction_id:
            return self.context.current.version
        with suppress(NoTransaction):
            return self.context.transactions.in_progress(transaction_id).version
        return 0

    def read(self, transaction_id: str | None = None) -> Document:
        """Raises NoTransaction."""
        return self.context.transactions.read(transaction_id) if transaction_id else self.document

    def raw(self, version: int | None = None, transaction_id: str | None = None, *, file: str = "") -> bytes:
        """A file as it is on disk, in a transaction, or as a backup. Raises BadRequest, Missing, NoTransaction, Unreadable.

        `file` is the path of one of the configuration's files, or its last part; else the main one is meant.
        """
        if version and transaction_id:
            raise BadRequest(f"{_ONLY_ONE}: Both version and transactionID specified, specify only one")
        name = self.named(file)
        if transaction_id:
            return parts.split(self.context.transactions.text(transaction_id)).get(name, b"")
        return self.context.backups.of(name).read(version) if version else self.context.current.file.file(name).read()

    def files(self) -> list[Path]:
        """Every file of the configuration, in the order in which HAProxy loads them."""
        return [self.context.current.file.file(name).path for name in self.context.current.file.names()]

    def named(self, file: str) -> str:
        """The name of the configuration's file that a path, or the last part of one, means; the main one's for "". Raises NotFound."""
        return self.context.current.file.named(file) if file else parts.MAIN

    # -- writing

    async def write(
        self,
        operations: Sequence[Edit],
        expect: Expect | None = None,
        *,
        author: Author,
        transaction_id: str | None = None,
        reload: Reload = Reload.AUTO,
        skips_same: bool = False,
    ) -> Outcome:
        """Make a change of its own, or one inside a transaction, which commits nothing. Raises BadRequest if nothing is expected.

        `skips_same`: where nothing is changed, and no reload is forced, nothing is written.
        """
        if transaction_id:
            if reload is Reload.NOW:
                raise BadRequest("Both force_reload and transaction specified, specify only one")
            if isinstance(expect, Version | Rebase):
                raise BadRequest(_ONLY_ONE)
            return await self._write_within(transaction_id, Change(operations, expect or ANY, author=author))
        if expect is None:
            raise BadRequest(_NEITHER)
        skips_same = skips_same and reload is Reload.AUTO
        return await self.commit(Change(operations, expect, reload, skips_same=skips_same, author=author))

    async def _write_within(self, transaction_id: str, change: Change) -> Outcome:
        def permitted(before: Document) -> Document:
            after = change.apply(before)
            # Whether it may reload is asked at the commit.
            permission.permit(change.author, Texts(before, after))
            return after

        texts = await self.context.transactions.change(transaction_id, permitted, change.author, change.edits)
        return Outcome(self.version(transaction_id), texts=Texts(*texts))

    async def amend(self, operations: Sequence[Edit], *, author: Author) -> Outcome:
        """Change whatever version is current when the turn of the change comes."""
        return await commit(self.context, Change(operations, author=author))

    async def text(self, body: bytes, *, file: str = "", keeps_version: bool = False, actions: str = "") -> PutText:
        """The operation that puts a text in the place of one of the configuration's files. Raises BadRequest.

        `keeps_version`: the version that the text has is the configuration's from then on. `actions`: runtime commands that are sent with
        `Reload.NONE`.
        """
        if b"\n" not in body:
            raise BadRequest("invalid configuration: no newline character found")
        name = self.named(file)
        document = await beside(text_as_sent, body, versions=keeps_version)
        return PutText(name, document, keeps_version and name == parts.MAIN, body.count(b"\n"), actions)

    async def validate(self, body: bytes, *, author: Author, file: str = "") -> list[Message]:
        """Return HAProxy's warnings about a text that is used for nothing else. Raises Forbidden, Refused and CheckImpossible."""
        candidate = await beside(self.candidate, body, file=file, author=author)
        await self.permit_evaluation(candidate)
        return await self.context.check_text(candidate.after, author)

    def candidate(self, body: bytes | None = None, transaction_id: str | None = None, *, author: Author, file: str = "") -> Candidate:
        """Return what the author's question is about: a text in the place of a file, a transaction, or the configuration.

        Raises BadRequest and NoTransaction.
        """
        if body is not None:
            after = parts.with_parts(self.document, {self.named(file): text_as_sent(body)})
            return Candidate(self.document, after, author=author)
        if transaction_id is None:
            return Candidate(self.document, self.document, author=author)
        document, (base, _) = self.read(transaction_id), self.context.transactions.sides(transaction_id)
        files = self.context.transactions.staged(transaction_id).contents
        return Candidate(base or self.document, document, files, author=author)

    async def permit_evaluation(self, candidate: Candidate) -> None:
        """Permit evaluating a candidate (native/haproxy_native/commit/permission.py). Raises Forbidden."""
        await permission.permit_evaluation(self.context, candidate)

    async def plan(self, change: Change) -> Preview:
        """Return what the commit of a change would do. Raises what `preview` raises."""
        return await preview(self.context, await with_base(self.context, change))

    async def permit_plan(self, change: Change) -> None:
        """Raise what `plan` raises before it has anything evaluated."""
        await permit_preview(self.context, await with_base(self.context, change))

    async def plan_transaction(self, id_: str, more: Sequence[Operation] = (), *, author: Author) -> Preview:
        """Return what the commit of a transaction of any status would do, and of `more` with it. Raises what `preview` raises."""
        return await preview_of(self.context, self.transaction(id_, author=author).id, self.stores, author, more)

    # -- transactions

    def start_transaction(self, version: int | None, *, author: Author) -> Transaction:
        """Raises BadRequest, TooManyTransactions, Conflict and Unusable."""
        number = self.check_start(version, author=author)
        return self.context.transactions.start(self.document, number, author, banner=self.context.current.banner)

    def check_start(self, version: int | None, *, author: Author) -> int:
        """Return the version that a transaction would start from. Raises BadRequest, TooManyTransactions and Conflict."""
        if version is None:
            raise BadRequest("Query argument version is required, but not found")
        self.context.transactions.check_limit(author)
        current = self.context.current
        current.notice()
        Version(version).compare(current.version)
        return version

    def transactions(self, status: str | None = None, *, author: Author) -> list[Transaction]:
        return self.context.transactions.list(status, author=author)

    def transaction(self, id_: str, *, author: Author) -> Transaction:
        return self.context.transactions.to_read(id_, author)

    async def check_commit(self, id_: str, *, author: Author, force_reload: bool = False, merges: bool = False) -> bool:
        """Return whether the commit of a transaction would reload HAProxy. Raises what it would be refused for, but by HAProxy."""
        change = await commit_of(self.context, id_, self.stores, author, force_reload=force_reload, merges=merges)
        unchanged = not change.files and await beside(same_text, await beside(change.apply, self.document), self.document)
        return await would_reload(self.context, change) or unchanged

    def delete_transaction(self, id_: str, *, author: Author) -> None:
        self.context.transactions.delete(id_, author)

    async def commit_transaction(
        self, id_: str, *, author: Author, force_reload: bool = False, merges: bool = False
    ) -> tuple[Transaction, Outcome]:
        """The transaction, with the version it started from, and what its commit did. An empty one reloads. `merges` as in `write`."""
        return await committed(self.context, id_, self.stores, author, force_reload=force_reload, merges=merges)

    async def base(self, version: int | None, *, merges: bool = False) -> tuple[Document, int]:
        """The configuration that a change is made on, and its version: the current one, or with `merges` that of an old version.

        Raises Conflict for another version than the current one, and TextGone with `merges` for one of which no text is kept.
        """
        if version and merges:
            return await text_of(self.context, version), version
        with suppress(Unreadable):
            await self.context.current.notice_in_thread()
        if version:
            Version(version).compare(self.context.current.version)
        return self.document, self.version()

    async def commit(self, change: Change) -> Outcome:
        """Make a change. Raises what a commit raises."""
        return await commit(self.context, await with_base(self.context, change))

    async def check_change(self, change: Change, transaction_id: str | None = None) -> bool:
        """Return whether a change would reload HAProxy; inside a transaction nothing does. Raises what it would be refused for."""
        if not transaction_id:
            return await would_reload(self.context, await with_base(self.context, change))
        self.context.transactions.to_edit(transaction_id, change.author)
        before = self.read(transaction_id)
        permission.permit(change.author, Texts(before, await beside(change.apply, before)))
        return False

    # -- the host of the reload agent

    def expects_haproxy(self) -> bool:
        return self.context.running.is_expected

    @asynccontextmanager
    async def loading(self) -> AsyncIterator[Load]:
        """Allows only live changes while it is entered."""
        async with self.context.loading() as load:
            yield load

    async def loaded(self) -> Sequence[str]:
        async with self.context.publishing():
            await after_reload.succeeded(self.context)
            return await after_reload.differences(self.context)

    async def refused(self, record: Record) -> Record:
        async with self.context.publishing():
            return await after_reload.failed(self.context, record)

    def runs_since(self, moment: float) -> int | None:
        return self.context.runs_since(moment)

    def ended(self, record: Record) -> None:
        keywords = tuple(reason.get("keyword", "") for reason in record.reasons)
        self.context.events.publish(Reloaded(record.id, record.status, (record.ended or 0) - (record.started or 0), keywords))

    # -- edits by others

    async def notice(self) -> bool:
        """Reads an edit by another process as the next version. Raises Unreadable."""
        if noticed := await self.context.current.notice_in_thread():
            log.warning("%s was edited by another process; it is now version %d", self.settings.file, self.version())
        return noticed

    async def reread(self) -> None:
        """Takes the file as it is, without counting, and the transactions, when no commit is at work. Raises Unreadable."""
        async with self.context.settled():
            await self.context.current.open_in_thread()
            self.context.transactions.load()

    async def _watch(self) -> None:
        while True:
            await next_second()
            touched = self.context.current.changed_stamp()
            if touched is None and self.context.current.is_settled:
                continue
            await asyncio.sleep(SETTLING_SECONDS)
            if self.context.current.changed_stamp() == touched:
                with suppress(Unreadable):
                    await self.notice()
