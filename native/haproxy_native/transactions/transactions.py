"""Transactions: private states of the configuration until they are committed.

An open transaction is a document in memory, the operations that made it, and the text that it started from. It is also stored
(native/haproxy_native/transactions/store.py), so that it survives a restart. Transactions are deleted only on request, unless the settings
limit how long a transaction may be idle. The author of a transaction may do everything with it; others need a rule for `transaction/ID`.

A transaction is first in progress. Then it is committed and removed, or failed (HAProxy has refused the text, which stays readable), or
outdated (another change was committed first; the transaction can still be merged).
"""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, contextmanager, suppress
from pathlib import Path

from haproxy_native.changes.operations import Edit, claimed_by_all, storable
from haproxy_native.disk.database import Database
from haproxy_native.disk.directories import Directory
from haproxy_native.editing import patches
from haproxy_native.editing.header import Stamp, with_header
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import Forbidden, NoTransaction, TooManyTransactions, Unusable
from haproxy_native.planning.touches import ANY, CHANGE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.shares import Account, account_name, check_room
from haproxy_native.text.document import CONFIGURATION, Document, Outline
from haproxy_native.threads import run_in_thread
from haproxy_native.transactions.staged import Staged
from haproxy_native.transactions.store import DIRECTORIES, FAILED, IN_PROGRESS, OUTDATED, SUCCESS, Transaction, TransactionStore

READ = "read"
_AWAKE = 8
_POLL_SECONDS = 60.0


class Transactions:
    """The transactions of one configuration file. Methods raise Unusable if the database cannot be read."""

    def __init__(
        self,
        database: Database,
        directory: Path,
        file: Path,
        limit: int = 0,
        *,
        name: str = "",
        setting: str = "transaction_dir",
        outline: Outline = CONFIGURATION,
        stamp: Stamp = with_header,
        make: bool = True,
        ttl: float = 0.0,
    ) -> None:
        """Initialize without reading anything. Call `load` to read.

        `limit`: how many transactions may be open; 0 for any number. `ttl`: seconds after which an idle transaction is ended; 0 for never.
        `name`: the name of the file in the database, by default the file's own. `setting`: the setting that names the directory. With
        `make=False` nothing is written. `stamp` adds the header to a text.
        """
        self.limit, self.ttl, self._stamp = limit, ttl, stamp
        place = Directory(directory, setting, 0o755, own=True, make=make)
        self._store = TransactionStore(database, name or file.name, place, file, outline)
        self._all: dict[str, Transaction] = {}
        # Whether `_all` includes the transactions of former processes that are in the database, and those that are in the directory.
        self._has_rows, self._has_texts = False, False
        # The documents that were used last. Only these keep an index of their sections, which takes memory.
        self._awake: dict[str, Document] = {}

    def load(self) -> None:
        """Find the transactions of former processes and of other servers. Each call reads the directory again. Raises nothing. Blocks."""
        self._all = {one.id: one for one in self._all.values() if one.base is not None}
        self._has_texts = False
        with suppress(Unusable):
            self._load_rest()

    def close(self) -> None:
        """Remove the temporary files."""
        for transaction in self._all.values():
            transaction.staged.remove()

    async def written(self) -> None:
        """Wait until each queued write survives a kill of this process, or waits in memory because the disk does not accept it."""
        await self._store.written()

    def _load_rest(self) -> None:
        """Load the rows and the texts that could not be read before. Raises Unusable only if the database cannot be read."""
        if not self._has_rows:
            self._all |= self._store.rows()
            self._has_rows = True
        if not self._has_texts:
            with suppress(Unusable):
                self._all = {one.id: one for one in self._store.texts()} | self._all
                self._has_texts = True

    # -- finding one

    def list(self, status: str | None = None, *, author: Author) -> list[Transaction]:
        """Return the transactions that an author may read."""
        self._load_rest()
        self.end_idle()
        order = list(DIRECTORIES)
        readable: list[Transaction] = []
        for transaction in self._all.values():
            if status in (None, transaction.status):
                with suppress(Forbidden):
                    readable.append(_permitted(transaction, author, READ))
        return sorted(readable, key=lambda one: (order.index(one.status), one.id))

    def get(self, id_: str) -> Transaction:
        """Return a transaction of any status. Raises NoTransaction."""
        self.end_idle()
        if id_ not in self._all:
            raise self._missing(id_, f"transaction {id_} does not exist")
        return self._all[id_]

    def in_progress(self, id_: str) -> Transaction:
        """Return a transaction that accepts changes, and note the time of its use. Raises NoTransaction.

        Unlike `get`, this ends no other idle transactions, since it may be called in any thread.
        """
        if (transaction := self._all.get(id_)) and self._is_over(transaction):
            self._end(transaction)
        if id_ not in self._all or self._all[id_].status != IN_PROGRESS:
            raise self._missing(id_, id_)
        self._all[id_].used = time.time()
        return self._all[id_]

    def to_read(self, id_: str, author: Author) -> Transaction:
        """Return a transaction of any status that an author may read. Raises NoTransaction and Forbidden."""
        return _permitted(self.get(id_), author, READ)

    def to_commit(self, id_: str, author: Author) -> Transaction:
        """Return a transaction of any status that an author may commit. Raises NoTransaction and Forbidden."""
        return _permitted(self.get(id_), author, CHANGE)

    def to_edit(self, id_: str, author: Author) -> Transaction:
        """Return a transaction that accepts changes of an author. Raises NoTransaction and Forbidden."""
        return _permitted(self.in_progress(id_), author, CHANGE)

    def to_delete(self, id_: str, author: Author) -> Transaction:
        """Return a transaction that an author may delete. Raises NoTransaction and Forbidden."""
        transaction = self._all.get(id_)
        if transaction is None:
            raise self._missing(id_, f"transaction file {id_} does not exist")
        if transaction.closed:
            raise NoTransaction(f"transaction file {id_} is being committed")
        return _permitted(transaction, author, DELETE)

    def _missing(self, id_: str, otherwise: str) -> NoTransaction:
        self._load_rest()
        return NoTransaction(self._store.why_ended(id_) or otherwise)

    # -- an open one

    def start(self, document: Document, version: int, author: Author, *, banner: bool = True) -> Transaction:
        """Return a new transaction of an author. Raises TooManyTransactions, ShareExceeded and Unusable."""
        self._load_rest()
        self.check_limit(author)
        transaction = Transaction(str(uuid.uuid4()), IN_PROGRESS, version, banner=banner, author=author.identity, document=document)
        transaction.started = transaction.used = time.time()
        self._store.start(transaction, document)
        self._all[transaction.id] = transaction
        return transaction

    def check_limit(self, author: Author) -> None:
        """Raise TooManyTransactions or ShareExceeded if the author may not start another transaction."""
        self.end_idle()
        authors = [account_name(one.author) for one in self._all.values() if one.status == IN_PROGRESS]
        if 0 < self.limit <= len(authors):
            raise TooManyTransactions(
                f"cannot start a new transaction, reached the maximum amount of {self.limit} active transactions available"
            )
        caller = Account.from_author(author)
        check_room(caller, self.limit, authors.count(caller.name), len(authors), "open transactions (max_open_transactions)")

    def read(self, id_: str) -> Document:
        """Return the document of a transaction in progress, after its operations. Raises NoTransaction."""
        document = self._document(self.in_progress(id_))
        self._wake(id_, document)
        return document

    def _wake(self, id_: str, document: Document) -> None:
        self._awake.pop(id_, None)
        self._awake[id_] = document
        if len(self._awake) > _AWAKE:
            self._awake.pop(next(iter(self._awake))).drop_caches()

    async def change(
        self, id_: str, edit: Callable[[Document], Document], author: Author, operations: Sequence[Edit] = ()
    ) -> tuple[Document, Document]:
        """Edit a transaction, and return the documents before and after the edit. Edits of one transaction run one after the other.

        `operations`: the operations that `edit` applies. Without any, the edit is stored as a patch of the text. Raises NoTransaction,
        Forbidden and Unusable.
        """

        def apply_edit() -> tuple[Document, Document, patches.Patch | None]:
            before = self._document(transaction)
            after = edit(before)
            return before, after, patches.patch(before, after)

        async with self.to_edit(id_, author).lock:
            transaction = self._open(id_)
            before, after, patch = await run_in_thread(apply_edit)
            if patch or claimed_by_all(operations) - claimed_by_all(transaction.operations):
                patch = patch or patches.NONE
                made = storable(operations, patch)
                self._in_database(self._open(id_))
                transaction.operations += made
                transaction.document = after
                self._wake(id_, after)
                await self._store.add(transaction, patch, made)
            return before, after

    def _open(self, id_: str) -> Transaction:
        transaction = self.in_progress(id_)
        if transaction.closed:
            raise NoTransaction(f"{id_}, which is being committed")
        return transaction

    @asynccontextmanager
    async def staging(self, id_: str, author: Author) -> AsyncIterator[Staged]:
        """Yield the staged files of a transaction that accepts changes. Callers wait for each other. Raises NoTransaction and Forbidden."""
        async with self.to_edit(id_, author).lock:
            yield self.staged(self._in_database(self._open(id_)).id)

    def _in_database(self, transaction: Transaction) -> Transaction:
        if transaction.base is None:
            self._store.adopt(transaction)
        return transaction

    # -- one of any status

    def staged(self, id_: str) -> Staged:
        """Return the staged files of a transaction. Raises NoTransaction."""
        return self.get(id_).staged

    def sides(self, id_: str) -> tuple[Document | None, Document]:
        """Return the document that a transaction started from, or None if unknown, and its current document. Raises NoTransaction."""
        transaction = self.get(id_)
        key = None if transaction.adopted else transaction.base
        return self._store.base(key) if key else None, self._document(transaction)

    def text(self, id_: str) -> bytes:
        """Return the complete text of a transaction, with its header. Raises NoTransaction."""
        if (transaction := self._all.get(id_)) is None:
            raise self._missing(id_, f"transaction file {id_} does not exist")
        if transaction.base is None:
            with _existing(id_):
                return self._store.data(transaction)
        return self._stamp(self._document(transaction), transaction.version, banner=transaction.banner).data

    def _document(self, transaction: Transaction) -> Document:
        with _existing(transaction.id):
            return self._store.document(transaction)

    # -- the end of one

    def succeed(self, id_: str) -> Transaction:
        """Remove a transaction that was committed, and return it."""
        transaction = self._all[id_]
        self._remove(transaction)
        transaction.status, transaction.document = SUCCESS, None
        return transaction

    def fail(self, id_: str, data: bytes, author: Author) -> None:
        """Store a refused text, of a transaction or of a change without a transaction, so that people can read it."""
        known = self._all.get(id_)
        failed = Transaction(id_, FAILED, author=known.author if known else author.identity)
        try:
            self._store.write_failed(failed, data)
        except OSError:
            if known:
                self._store.set_status(FAILED, known)
            return
        if known:
            self._remove(known)
        self._all[id_] = failed

    def outdate(self, id_: str) -> None:
        """Mark a transaction that another change has overtaken as outdated. Its text can still be read."""
        self._store.set_status(OUTDATED, self._all[id_])

    def outdate_older(self, version: int) -> None:
        """Mark all transactions in progress that started from `version` or an earlier version as outdated."""
        self._store.set_status(OUTDATED, *(one for one in self._all.values() if one.status == IN_PROGRESS and one.version <= version))

    def delete(self, id_: str, author: Author) -> None:
        """Delete a transaction. Raises NoTransaction and Forbidden."""
        self._remove(self.to_delete(id_, author))

    def clear(self) -> None:
        """Delete all transactions that are not being committed, since their file was deleted."""
        for transaction in [one for one in self._all.values() if not one.closed]:
            self._remove(transaction)

    def _remove(self, transaction: Transaction) -> None:
        del self._all[transaction.id]
        self._store.remove(transaction)
        self._awake.pop(transaction.id, None)
        self._store.keep_bases({one.base for one in self._all.values()})

    # -- idle ones

    async def keep_ending(self) -> None:
        """Delete idle transactions periodically, until this is cancelled."""
        while True:
            self.end_idle()
            await asyncio.sleep(min(self.ttl, _POLL_SECONDS))

    def end_idle(self) -> None:
        """Delete transactions in progress that have been idle for longer than `ttl`."""
        for transaction in [one for one in self._all.values() if self._is_over(one)]:
            self._end(transaction)

    def _is_over(self, transaction: Transaction) -> bool:
        return 0 < self.ttl < time.time() - transaction.used and transaction.is_idle

    def _end(self, transaction: Transaction) -> None:
        self._store.add_ended(transaction.id, self.ttl)
        self._remove(transaction)


@contextmanager
def _existing(id_: str) -> Iterator[None]:
    """Convert FileNotFoundError in the body, which reads the text of a transaction, to NoTransaction."""
    try:
        yield
    except FileNotFoundError:
        raise NoTransaction(f"transaction file {id_} does not exist") from None


def _permitted(transaction: Transaction, author: Author, verb: str) -> Transaction:
    """Return the transaction. Raises Forbidden unless it is the author's own, or a rule permits the verb on it."""
    if not (transaction.author and transaction.author == author.identity):
        author.permit(Touch(spelled("transaction", transaction.id), verb, frozenset((ANY,))))
    return transaction
