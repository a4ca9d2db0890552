"""`Engine`: reads and changes one haproxy.cfg and the HAProxy that runs it.

Documents are read from memory, synchronously. Every change goes through one function, `commit` (native/haproxy_native/commit/commit.py),
with the `CommitContext` that `context_of` builds from the settings. The engine is also the host of the reload agent
(native/haproxy_native/reload/agent.py), which reports to it how each reload has ended.
"""

import asyncio
import logging
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from haproxy_native.background import Background, next_second
from haproxy_native.changes.expect import ANY, Expect, Rebase, Version
from haproxy_native.changes.operations import Edit, PutText, text_as_sent
from haproxy_native.check.check import CheckSettings
from haproxy_native.check.messages import Message
from haproxy_native.commit import after_reload, permission, publication
from haproxy_native.commit.after_reload import resume
from haproxy_native.commit.change import Candidate, Change, Operation, Outcome, Reload, Texts
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import TABLES, Current, StateRow
from haproxy_native.commit.events import Events, Reloaded
from haproxy_native.commit.ledger import Ledger
from haproxy_native.commit.preparation import text_of, with_base
from haproxy_native.commit.preview import Preview, permit_preview, preview, would_reload
from haproxy_native.commit.running import RunningProcess, TextRows
from haproxy_native.commit.transaction_commit import commit_of, commit_transaction, preview_of
from haproxy_native.commit.watch import ProcessWatch, Soundness
from haproxy_native.disk.backups import Backups
from haproxy_native.disk.database import Database
from haproxy_native.disk.directories import Directory
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.editing import header
from haproxy_native.editing.header import same_text
from haproxy_native.errors import (
    BadRequest,
    NoTransaction,
    Unreadable,
)
from haproxy_native.process_state import Load
from haproxy_native.reload.agent import ReloadAgent
from haproxy_native.reload.records import ReloadRecord
from haproxy_native.request_context import Author
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.working_directory import WorkingDirectory
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.live_lists import MapSync
from haproxy_native.storage.stores import Stores
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread
from haproxy_native.transactions.store import TABLES as TRANSACTIONS
from haproxy_native.transactions.store import Transaction
from haproxy_native.transactions.transactions import Transactions


@dataclass(frozen=True)
class EngineSettings:
    """The settings of an `Engine`."""

    file: Path
    # The engine's own directory, which has to survive a restart.
    storage: Path
    # Further files, or directories of files, that HAProxy loads before and after `file`. Their sections can be edited as well.
    before: Sequence[str] = ()
    after: Sequence[str] = ()
    # The name of the systemd unit that starts HAProxy; a unit that does not exist is ignored.
    unit: str = ""
    transactions: Path = Path("/tmp/haproxy")
    max_open_transactions: int = 0
    # Seconds after which an unused transaction is ended; 0 means never.
    transaction_ttl: float = 0.0
    backups: Path | None = None
    backups_number: int = 0
    short_header: bool = False
    check: CheckSettings = field(default_factory=CheckSettings)
    # Whether the engine polls the file every second for edits by other processes.
    watch: bool = True
    # Seconds between two writes of the map files from HAProxy's maps in memory; 0 means never.
    map_sync: float = 0.0
    # Whether neither files nor the process may be changed. The engine's own directory is still written.
    read_only: bool = False
    # The directories of stored files, by the names of their stores (native/haproxy_native/storage/stores.py).
    directories: Mapping[str, Directory] = field(default_factory=dict)

    @property
    def last_good(self) -> Path | None:
        """The path of the last known good text, which the HAProxy Data Plane API stores there as well; None if there are several files."""
        return None if self.before or self.after else (self.backups or self.file.parent) / f"{self.file.name}.lkg"


def context_of(settings: EngineSettings, runtime: Runtime, reloads: ReloadAgent, stores: Stores, database: Database) -> CommitContext:
    """Build the context that all commits of an engine share. Reads no files yet."""
    database.declare(TABLES, *TRANSACTIONS)
    row = StateRow(database, "haproxy.cfg", is_kept=not settings.read_only)
    stamp = header.with_short_header if settings.short_header else header.with_header
    files = ConfigFiles(settings.file, settings.storage, settings.before, settings.after)
    current = Current(files, row, stamp, edited=lambda *edit: context.edited(*edit))
    events = Events()
    context = CommitContext(
        current=current,
        running=RunningProcess(
            current, runtime, row, TextRows(database, settings.last_good, settings.file, is_kept=not settings.read_only), events
        ),
        transactions=Transactions(
            database,
            settings.transactions,
            settings.file,
            settings.max_open_transactions,
            stamp=stamp,
            make=not settings.read_only,
            ttl=0.0 if settings.read_only else settings.transaction_ttl,
        ),
        backups=Backups(settings.file, settings.backups_number, settings.backups),
        check=settings.check,
        runtime=runtime,
        database=database,
        find_entry=stores.naming(lambda document: context.base(document)),
        reloads=reloads,
        ledger=Ledger(database, settings.storage),
        stores=stores,
        events=events,
        working_directory=WorkingDirectory(settings.unit),
        read_only=settings.read_only,
    )
    return context


log = logging.getLogger(__name__)
SETTLING_SECONDS = 0.1
_ONLY_ONE = "both version and transaction specified, specify only one"
_NEITHER = "version or transaction not specified: name the version that is to be changed, or a transaction"


class Engine:
    """One haproxy.cfg and the HAProxy that runs it. Call `start` before anything else, and `close` at the end.

    `reloads` creates the reload agent, whose host is the engine.
    """

    def __init__(self, settings: EngineSettings, runtime: Runtime, reloads: Callable[["Engine"], ReloadAgent]) -> None:
        self.settings, self.runtime, self.stores = settings, runtime, Stores(settings.directories, settings.storage)
        self.database = Database(settings.storage / "state")
        self.reloads = reloads(self)
        self.context = context_of(settings, runtime, self.reloads, self.stores, self.database)
        self.soundness, self._watching = Soundness(self.context), Background("watching the files")

    async def start(self) -> None:
        """Complete what a crash has interrupted, read the files and the stored state, and start the background tasks. Raises Unreadable."""
        with suppress(OSError):
            self.settings.storage.mkdir(mode=0o750, parents=True, exist_ok=True)
        try:
            if self.context.current.file.recover():
                log.warning("%s was half written and has been completed", self.settings.file)
        except OSError as error:
            log.error("%s may be incomplete, and completing it failed: %s", self.settings.file, error)
        writes = not self.settings.read_only
        known = self.context.current.open()
        self.context.transactions.load()
        self.context.ledger.open()
        await asyncio.to_thread(self.stores.recover)
        await self.context.running.restore()
        await self.context.find_working_directory()
        if writes:
            await publication.resume(self.context)
            await resume(self.context, edited=not known)
        self._watching.begin(ProcessWatch(self.context).run())
        if self.context.transactions.ttl:
            self._watching.begin(self.context.transactions.keep_ending())
        if self.settings.watch:
            self._watching.begin(self._notice_edits())
        if self.settings.map_sync and writes and isinstance(maps := self.stores.get("maps"), MapStore):
            self._watching.begin(MapSync(self.context, maps, self.settings.map_sync).run())

    async def close(self) -> None:
        """Wait for all commits, perform a pending reload at once, and stop the background tasks."""
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
        """The configuration that the worker runs; None if that is unknown."""
        return self.context.running.document

    def version(self, transaction_id: str | None = None) -> int:
        """Return the current version, or the version that a transaction started from; 0 if the transaction is not in progress."""
        if not transaction_id:
            return self.context.current.version
        with suppress(NoTransaction):
            return self.context.transactions.in_progress(transaction_id).version
        return 0

    def read(self, transaction_id: str | None = None) -> Document:
        """Return the current document, or the document of a transaction. Raises NoTransaction."""
        return self.context.transactions.read(transaction_id) if transaction_id else self.document

    def raw(self, version: int | None = None, transaction_id: str | None = None, *, file: str = "") -> bytes:
        """Return the content of a configuration file: on disk, in a transaction, or in the backup of a version. Blocks.

        `file` is the path of the file or the last part of the path, by default the main file. Raises BadRequest, Missing, NoTransaction and
        Unreadable.
        """
        if version and transaction_id:
            raise BadRequest(f"{_ONLY_ONE}: Both version and transactionID specified, specify only one")
        name = self.resolve_file(file)
        if transaction_id:
            return parts.split(self.context.transactions.text(transaction_id)).get(name, b"")
        return self.context.backups.for_file(name).read(version) if version else self.context.current.file.file(name).read()

    def files(self) -> list[Path]:
        """Return every file of the configuration, in the order in which HAProxy loads them."""
        return [self.context.current.file.file(name).path for name in self.context.current.file.names()]

    def resolve_file(self, file: str) -> str:
        """Return the name that documents use for a file; "" for the main file. `file`: the path of the file, or its last part; "" as well.

        Raises NotFound.
        """
        return self.context.current.file.resolve_name(file) if file else parts.MAIN

    # -- writing

    async def write(
        self,
        operations: Sequence[Edit],
        expect: Expect | None = None,
        *,
        author: Author,
        transaction_id: str | None = None,
        reload: Reload = Reload.AUTO,
    ) -> Outcome:
        """Commit operations as one change, or add them to a transaction without committing them.

        A commit needs `expect`; a transaction allows neither a version nor a forced reload. Raises BadRequest otherwise, and what a commit
        raises.
        """
        if transaction_id:
            if reload is Reload.NOW:
                raise BadRequest("Both force_reload and transaction specified, specify only one")
            if isinstance(expect, Version | Rebase):
                raise BadRequest(_ONLY_ONE)
            change = Change(operations, expect or ANY, author=author)

            def edit(before: Document) -> Document:
                after = change.apply(before)
                # The commit checks whether the author may reload HAProxy.
                permission.permit(author, Texts(before, after))
                return after

            texts = await self.context.transactions.change(transaction_id, edit, author, change.edits)
            return Outcome(self.version(transaction_id), texts=Texts(*texts))
        if expect is None:
            raise BadRequest(_NEITHER)
        return await self.commit(Change(operations, expect, reload, author=author))

    async def amend(self, operations: Sequence[Edit], *, author: Author) -> Outcome:
        """Commit operations on the version that is current when the commit runs. Raises what a commit raises."""
        return await commit(self.context, Change(operations, author=author))

    async def text(self, body: bytes, *, file: str = "", keeps_version: bool = False, actions: str = "") -> PutText:
        """Return the operation that replaces the text of one of the configuration's files. Raises BadRequest.

        `keeps_version`: the configuration gets the version in the header of the text. `actions`: runtime commands to send with
        `Reload.NONE`.
        """
        if b"\n" not in body:
            raise BadRequest("invalid configuration: no newline character found")
        name = self.resolve_file(file)
        document = await run_in_thread(text_as_sent, body, versions=keeps_version)
        return PutText(name, document, keeps_version and name == parts.MAIN, body.count(b"\n"), actions)

    async def validate(self, body: bytes, *, author: Author, file: str = "") -> list[Message]:
        """Have HAProxy check a text without storing it, and return its warnings. Raises Forbidden, Refused and CheckImpossible."""
        candidate = await run_in_thread(self.candidate, body, file=file, author=author)
        await self.permit_evaluation(candidate)
        return await self.context.check_text(candidate.after, author)

    def candidate(self, body: bytes | None = None, transaction_id: str | None = None, *, author: Author, file: str = "") -> Candidate:
        """Return the configuration that an author wants to evaluate.

        With `body`, this is the current configuration with `body` as the text of `file`. With `transaction_id`, it is the configuration of
        the transaction. Otherwise, it is the current configuration. Raises BadRequest and NoTransaction.
        """
        if body is not None:
            after = parts.with_parts(self.document, {self.resolve_file(file): text_as_sent(body)})
            return Candidate(self.document, after, author=author)
        if transaction_id is None:
            return Candidate(self.document, self.document, author=author)
        document, (base, _) = self.read(transaction_id), self.context.transactions.sides(transaction_id)
        files = self.context.transactions.staged(transaction_id).contents
        return Candidate(base or self.document, document, files, author=author)

    async def permit_evaluation(self, candidate: Candidate) -> None:
        """Raise Forbidden unless the author of a candidate may have it evaluated (native/haproxy_native/commit/permission.py)."""
        await permission.permit_evaluation(self.context, candidate)

    async def plan(self, change: Change) -> Preview:
        """Return what the commit of a change would do. Raises what `preview` raises."""
        return await preview(self.context, await with_base(self.context, change))

    async def permit_plan(self, change: Change) -> None:
        """Raise the errors, such as Forbidden, that `plan` raises before it evaluates the change."""
        await permit_preview(self.context, await with_base(self.context, change))

    async def plan_transaction(self, id_: str, more: Sequence[Operation] = (), *, author: Author) -> Preview:
        """Return what the commit of a transaction, whatever its status, would do with the operations `more` added.

        Raises what `preview` raises.
        """
        return await preview_of(self.context, self.transaction(id_, author=author).id, author, more)

    # -- transactions

    def start_transaction(self, version: int | None, *, author: Author) -> Transaction:
        """Start a transaction on the current configuration, which has to be of this version.

        Raises BadRequest, TooManyTransactions, Conflict and Unusable.
        """
        number = self.check_start(version, author=author)
        return self.context.transactions.start(self.document, number, author, banner=self.context.current.banner)

    def check_start(self, version: int | None, *, author: Author) -> int:
        """Return the version if a transaction could start from it. Raises BadRequest, TooManyTransactions and Conflict."""
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
        """Return whether the commit of a transaction would reload HAProxy. Raises what the commit would raise before HAProxy's check."""
        change = await commit_of(self.context, id_, author, force_reload=force_reload, merges=merges)
        unchanged = not change.files and await run_in_thread(same_text, await run_in_thread(change.apply, self.document), self.document)
        return await would_reload(self.context, change) or unchanged

    def delete_transaction(self, id_: str, *, author: Author) -> None:
        self.context.transactions.delete(id_, author)

    async def commit_transaction(
        self, id_: str, *, author: Author, force_reload: bool = False, merges: bool = False
    ) -> tuple[Transaction, Outcome]:
        """Commit a transaction. Return (the transaction, which has the version that it started from; the outcome).

        A transaction without changes reloads HAProxy. `merges`: rebase the transaction onto changes that were made since it started.
        """
        return await commit_transaction(self.context, id_, author, force_reload=force_reload, merges=merges)

    async def base(self, version: int | None, *, merges: bool = False) -> tuple[Document, int]:
        """Return the configuration to make a change on, and its version.

        Without `merges`, raises Conflict if `version` is not the current version. With `merges`, `version` may be a former version; raises
        TextNotStored if the text of that version is no longer stored.
        """
        if version and merges:
            return await text_of(self.context, version), version
        with suppress(Unreadable):
            await self.context.current.notice_in_thread()
        if version:
            Version(version).compare(self.context.current.version)
        return self.document, self.version()

    async def commit(self, change: Change) -> Outcome:
        """Commit a change. Raises what a commit raises."""
        return await commit(self.context, await with_base(self.context, change))

    async def check_change(self, change: Change, transaction_id: str | None = None) -> bool:
        """Return whether a change would reload HAProxy; always False inside a transaction. Raises the errors for which it would fail."""
        if not transaction_id:
            return await would_reload(self.context, await with_base(self.context, change))
        self.context.transactions.to_edit(transaction_id, change.author)
        before = self.read(transaction_id)
        permission.permit(change.author, Texts(before, await run_in_thread(change.apply, before)))
        return False

    # -- the host of the reload agent

    def expects_haproxy(self) -> bool:
        return self.context.running.is_expected

    def loading(self) -> AbstractAsyncContextManager[Load]:
        return self.context.loading()

    async def loaded(self) -> Sequence[str]:
        async with self.context.publishing():
            await after_reload.handle_success(self.context)
            return await after_reload.differences(self.context)

    async def refused(self, record: ReloadRecord) -> ReloadRecord:
        async with self.context.publishing():
            return await after_reload.handle_failure(self.context, record)

    def runs_since(self, moment: float) -> int | None:
        return self.context.runs_since(moment)

    def ended(self, record: ReloadRecord) -> None:
        keywords = tuple(reason.get("keyword", "") for reason in record.reasons)
        self.context.events.publish(Reloaded(record.id, record.status, (record.ended or 0) - (record.started or 0), keywords))

    # -- edits by others

    async def notice(self) -> bool:
        """If another process has edited the file, make its text the next version. Return whether there was an edit. Raises Unreadable."""
        if noticed := await self.context.current.notice_in_thread():
            log.warning("%s was edited by another process; it is now version %d", self.settings.file, self.version())
        return noticed

    async def reread(self) -> None:
        """Read the file and the transactions again without a new version. Waits until no commit or reload is in progress.

        Raises Unreadable.
        """
        async with self.context.settled():
            await self.context.current.open_in_thread()
            self.context.transactions.load()

    async def _notice_edits(self) -> None:
        while True:
            await next_second()
            touched = self.context.current.changed_stamp()
            if touched is None and self.context.current.is_settled:
                continue
            await asyncio.sleep(SETTLING_SECONDS)
            if self.context.current.changed_stamp() == touched:
                with suppress(Unreadable):
                    await self.notice()
