"""Read and change one SPOE file, directly or in transactions.

A change goes through the same commit as a change of the configuration (native/haproxy_native/commit/commit.py). If a filter of the
configuration reads the file, HAProxy checks the current configuration together with the changed text.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path

from haproxy_native.changes.expect import ANY, Expect, Version
from haproxy_native.changes.operations import Edit, apply_all
from haproxy_native.commit.change import Change, Outcome, Reload
from haproxy_native.commit.commit import commit, run_to_the_end
from haproxy_native.commit.current import Current, StateRow
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.editing import header
from haproxy_native.errors import Conflict, NoTransaction, Stale
from haproxy_native.planning.outcome import Reason
from haproxy_native.request_context import Author
from haproxy_native.spoe.store import Make, PutSpoe, SpoeStore
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread
from haproxy_native.transactions.store import Transaction
from haproxy_native.transactions.transactions import Transactions

log = logging.getLogger(__name__)


class SpoeFile:
    """A SPOE file with its version and its transactions. Call `open` first."""

    def __init__(self, path: Path, store: SpoeStore) -> None:
        self.path, self._store = path, store
        self._row = StateRow(store.context.database, f"spoe/{path.name}", is_kept=not store.context.read_only)
        files, edited = ConfigFiles(path, store.storage), store.context.edited
        self._current = Current(files, self._row, header.with_version, store.outline, edited)
        self._transactions = Transactions(
            store.context.database,
            store.transactions,
            path,
            name=f"spoe/{path.name}",
            setting="spoe_transaction_dir",
            outline=store.outline,
            make=not store.context.read_only,
        )

    @property
    def name(self) -> str:
        return self.path.name

    def open(self) -> None:
        """Complete a write that a crash interrupted, and read the file and its transactions. Raises Unreadable. Blocks."""
        try:
            self._current.file.recover()
        except OSError as error:
            log.error("%s may be incomplete, and completing it failed: %s", self.path, error)
        self._current.open()
        self._transactions.load()

    def notice(self) -> None:
        """If another process has edited the file, make its text the next version. Raises Unreadable. Blocks."""
        if self._current.notice():
            log.warning("%s was edited by another process; it is now version %d", self.path, self._current.version)

    # -- reading

    def read(self, transaction_id: str | None = None) -> Document:
        """Return the current document, or the edited document of a transaction. Raises NoTransaction."""
        if not transaction_id:
            return self._current.document
        self._transactions.get(transaction_id)
        return self._transactions.read(transaction_id)

    def version(self, transaction_id: str | None = None) -> int:
        """Return the current version, or the version that a transaction started from. Raises NoTransaction."""
        return self._transactions.get(transaction_id).version if transaction_id else self._current.version

    # -- writing

    async def write(
        self, operations: Sequence[Edit], *, author: Author, version: int | None = None, transaction_id: str | None = None
    ) -> Outcome:
        """Commit operations as one change, or add them to a transaction.

        Raises NoTransaction, and Conflict if `version` is not the current version.
        """
        if transaction_id:
            self._transactions.get(transaction_id)
            await self._transactions.change(transaction_id, partial(apply_all, operations), author)
            return Outcome(self.version(transaction_id))
        change = Change(operations, Version(version) if version else ANY, author=author)
        self._compare(change.expect)
        return await self._put(change)

    async def remove(self, *, author: Author) -> None:
        """Remove the file and its transactions. Raises InUse and Unusable."""

        async def make() -> tuple[bytes, None]:
            self.notice()
            return self._current.document.data, None

        async def remove() -> None:
            await self._commit(make, author)
            self._row.delete()
            self._transactions.clear()

        await run_to_the_end(self._store.context, remove())

    # -- transactions

    def transactions(self, *, author: Author) -> list[Transaction]:
        return self._transactions.list(author=author)

    def transaction(self, id_: str, *, author: Author) -> Transaction:
        return self._transactions.to_read(id_, author)

    def start_transaction(self, version: int, *, author: Author) -> Transaction:
        self._compare(Version(version))
        return self._transactions.start(self._current.document, self._current.version, author)

    def delete_transaction(self, id_: str, *, author: Author) -> None:
        self._transactions.delete(id_, author)

    def check_transaction(self, id_: str, *, author: Author, commit: bool) -> None:
        """Raise Forbidden or NoTransaction unless the author may commit a transaction, or delete the transaction if `commit` is False."""
        if commit:
            self._transactions.to_commit(id_, author)
        else:
            self._transactions.to_delete(id_, author)

    def check_edit(
        self, operations: Sequence[Edit], *, author: Author, version: int | None = None, transaction_id: str | None = None
    ) -> None:
        """Raise what `write` would raise before it commits."""
        if transaction_id:
            self._transactions.to_edit(transaction_id, author)
        before = self.read(transaction_id)
        expect = Version(version) if version else ANY
        self._compare(expect)
        expect.apply(operations, before)

    async def commit_transaction(self, id_: str, *, author: Author, force_reload: bool = False) -> tuple[Transaction, Outcome]:
        """Commit a transaction, and return the transaction and the outcome. A transaction that HAProxy refuses remains open for edits.

        If the transaction started from an older version of the file, deletes the transaction and raises Conflict.
        """
        transaction = self._transactions.to_commit(id_, author)
        if transaction.closed:
            raise NoTransaction(f"transaction {id_} does not exist")
        base, document = self._transactions.sides(id_)
        reload = Reload.NOW if force_reload else Reload.AUTO
        expect = Version(transaction.version, base, document, transaction=id_)
        change = Change(list(transaction.operations), expect, reload, author=author)

        async def put() -> Outcome:
            try:
                outcome = await self._put(change, [Reason(f"a transaction of the SPOE file {self.name} was committed")])
                self._transactions.succeed(id_)
                await self._transactions.written()
                return outcome
            except Conflict:
                transaction.closed = False
                self._transactions.delete(id_, author)
                raise
            finally:
                transaction.closed = False

        transaction.closed = True
        return transaction, await run_to_the_end(self._store.context, put())

    def _compare(self, expect: Expect) -> None:
        """Raise Conflict unless the current version is the one that `expect` requires. Unlike configurations, SPOE files are not merged."""
        try:
            expect.compare(self._current.version)
        except Stale as error:
            raise Conflict(error.detail) from None

    # -- the commit

    async def _put(self, change: Change, reasons: Sequence[Reason] = ()) -> Outcome:
        """Commit a change of the file's text. `reasons`: the reasons to reload if no filter reads the file."""

        async def make() -> tuple[bytes, bytes]:
            self.notice()
            self._compare(change.expect)
            before, version = self._current.document, self._current.version
            try:
                new = await run_in_thread(change.apply, before)
            except Stale:
                raise Conflict(
                    f"version {version} of {self.name} is not the text that the transaction started from; start a new transaction"
                ) from None
            stamped = self._current.stamp(new, version + 1, banner=False)
            self._current.expect_text(stamped)
            return before.data, stamped.data

        outcome = await self._commit(make, change.author, change.reload, reasons)
        self.notice()
        return replace(outcome, version=self._current.version)

    async def _commit(self, make: Make, author: Author, reload: Reload = Reload.AUTO, reasons: Sequence[Reason] = ()) -> Outcome:
        put = PutSpoe(replace(self._store, reasons_if_unread=reasons), self.path, make)
        return await commit(self._store.context, Change([put], reload=reload, author=author))
