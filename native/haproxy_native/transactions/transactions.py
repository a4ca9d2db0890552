"""Transactions: private states of the configuration; open ones are in memory as documents, all of them on disk.

All survive a restart, and none is cleaned up but on request, or where the settings limit the time that one may be idle.
"""

import asyncio
import time
import uuid
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path

from haproxy_native import shares
from haproxy_native.beside import beside
from haproxy_native.changes.operations import Edit, claimed_by_all
from haproxy_native.changes.stored import storable
from haproxy_native.disk.directories import Directory
from haproxy_native.editing import patches
from haproxy_native.editing.header import Stamp, same_text, with_header
from haproxy_native.errors import Forbidden, NoTransaction, TooManyTransactions, Unusable
from haproxy_native.planning.touches import CHANGE, DELETE
from haproxy_native.request_context import author
from haproxy_native.text.document import CONFIGURATION, Document
from haproxy_native.text.outline import Outline
from haproxy_native.transactions.ended import Ended
from haproxy_native.transactions.permission import READ, permit
from haproxy_native.transactions.staged import Staged
from haproxy_native.transactions.transaction import FAILED, IN_PROGRESS, SUCCESS, Transaction
from haproxy_native.transactions.transaction_files import DIRECTORIES, TransactionFiles

_AWAKE = 8
_LOOK_SECONDS = 60.0


class Transactions:
    """The transactions of one configuration file; `limit` counts explicit ones, 0 for none.

    `setting` is the name of the directory's setting. While the directory is unusable, methods that need it raise Unusable. Without `make`
    it is only read. Those in progress that have not been used for `ttl` seconds are ended; 0 for never.
    """

    def __init__(
        self,
        directory: Path,
        file: Path,
        limit: int = 0,
        *,
        setting: str = "transaction_dir",
        outline: Outline = CONFIGURATION,
        stamp: Stamp = with_header,
        make: bool = True,
        ttl: float = 0.0,
    ) -> None:
        self.directory, self.limit, self._stamp = directory, limit, stamp
        self.ttl, self._ended = ttl, Ended(directory / ".ended")
        self._files, self._loaded = TransactionFiles(Directory(directory, setting, 0o755, own=True, make=make), file, outline), False
        self._all: dict[str, Transaction] = {}
        self._awake: dict[str, Document] = {}

    def load(self) -> None:
        """Finds what an earlier process left. A directory that cannot be read holds nothing for now."""
        with suppress(Unusable):
            self._load()

    def _load(self) -> None:
        if self._files.is_empty:
            return
        self._files.check()
        self._all, self._loaded = {transaction.id: transaction for transaction in self._files.all()}, True
        self._forget_bases()
        self._files.keep_only(self._all)

    def _look(self) -> None:
        """One that could not be used at start may have come back since."""
        if self._files.is_empty:
            return
        if not self._loaded:
            self._load()
        self._files.check()

    def start(self, document: Document, version: int, *, banner: bool = True) -> Transaction:
        """Raises TooManyTransactions and Unusable."""
        self._look()
        self.check_limit()
        transaction = Transaction(str(uuid.uuid4()), IN_PROGRESS, version, banner=banner, author=author.get().identity, document=document)
        transaction.started = transaction.used = time.time()
        self._files.store(transaction)
        self._all[transaction.id] = transaction
        return transaction

    def end_idle(self) -> None:
        """Deletes those in progress that nobody has used for too long."""
        for transaction in [one for one in self._all.values() if self._is_over(one)]:
            self._end(transaction)

    def _is_over(self, transaction: Transaction) -> bool:
        return 0 < self.ttl < time.time() - transaction.used and transaction.is_idle

    def _end(self, transaction: Transaction) -> None:
        del self._all[transaction.id]
        self._ended.add(transaction.id, time.time(), self.ttl)
        self._remove(transaction)

    async def keep_ending(self) -> None:
        """Looks for idle ones until it is cancelled; a use looks, too."""
        while True:
            self.end_idle()
            await asyncio.sleep(min(self.ttl, _LOOK_SECONDS))

    def check_limit(self) -> None:
        """Raises TooManyTransactions and ShareExceeded."""
        self.end_idle()
        authors = [shares.account(one.author) for one in self._all.values() if one.status == IN_PROGRESS]
        if 0 < self.limit <= len(authors):
            raise TooManyTransactions(
                f"cannot start a new transaction, reached the maximum amount of {self.limit} active transactions available"
            )
        held = authors.count(shares.present().name)
        shares.check_room(self.limit, held, len(authors), "open transactions (max_open_transactions)")

    def get(self, id_: str) -> Transaction:
        """One of any status."""
        self.end_idle()
        if id_ not in self._all:
            self._look()
            raise NoTransaction(self._ended.why(id_) or f"transaction {id_} does not exist")
        return self._all[id_]

    def to_read(self, id_: str) -> Transaction:
        """One of any status, for the present author. Raises NoTransaction and Forbidden."""
        permit(READ, id_, self.get(id_).author)
        return self.get(id_)

    def to_commit(self, id_: str) -> Transaction:
        """One of any status, for the present author. Raises NoTransaction and Forbidden."""
        permit(CHANGE, id_, self.get(id_).author)
        return self.get(id_)

    def to_edit(self, id_: str) -> Transaction:
        """One that takes changes of the present author. Raises NoTransaction and Forbidden."""
        transaction = self.in_progress(id_)
        permit(CHANGE, id_, transaction.author)
        return transaction

    def in_progress(self, id_: str) -> Transaction:
        """One that takes changes, and is used by that. Of others none is ended: this may be called in any thread."""
        if (transaction := self._all.get(id_)) and self._is_over(transaction):
            self._end(transaction)
            transaction = None
        if transaction is None or transaction.status != IN_PROGRESS:
            self._look()
            raise NoTransaction(self._ended.why(id_) or id_)
        transaction.used = time.time()
        return transaction

    def list(self, status: str | None = None) -> list[Transaction]:
        """Returns the transactions that the present author may read."""
        self._look()
        self.end_idle()
        order = list(DIRECTORIES)
        chosen = [one for one in self._all.values() if status in (None, one.status) and _is_readable(one)]
        return sorted(chosen, key=lambda one: (order.index(one.status), one.id))

    def read(self, id_: str) -> Document:
        """The state of one that is in progress."""
        document = self._files.document(self.in_progress(id_))
        self._wake(id_, document)
        return document

    def started_from(self, id_: str, document: Document) -> bool:
        """Whether it is about this text; a version alone may stand for two, since not every edit by others counts."""
        base = self.in_progress(id_).base
        return base is None or same_text(self._files.base(base), document)

    def sides(self, id_: str) -> tuple[Document | None, Document]:
        """What one of any status started from, None where that is not known, and what it has become. Raises NoTransaction."""
        transaction = self.get(id_)
        try:
            return self._files.base(transaction.base) if transaction.base else None, self._files.document(transaction)
        except FileNotFoundError:
            raise NoTransaction(f"transaction file {id_} does not exist") from None

    async def change(self, id_: str, edit: Callable[[Document], Document], operations: Sequence[Edit] = ()) -> tuple[Document, Document]:
        """Return the state before an edit and after it. Edits wait for each other.

        `operations`: what the edit does; without any, what it has done to the text is kept. Raises NoTransaction, Forbidden and Unusable.
        """
        transaction = self.in_progress(id_)
        permit(CHANGE, id_, transaction.author)
        async with transaction.lock:
            transaction = self._open(id_)
            before, after, patch = await beside(self._edited, transaction, edit)
            if patch or claimed_by_all(operations) - claimed_by_all(transaction.operations):
                patch = patch or patches.NONE
                made = storable(operations, patch)
                self._files.append(self._open(id_), patch, made)
                transaction.operations += made
                transaction.document = after
                self._wake(id_, after)
            return before, after

    def staged(self, id_: str) -> Staged:
        """The stored files of one of any status. Raises NoTransaction and Unreadable."""
        transaction = self.get(id_)
        if transaction.staged is None:
            transaction.staged = self._files.staged(transaction)
        return transaction.staged

    @asynccontextmanager
    async def staging(self, id_: str) -> AsyncIterator[Staged]:
        """The stored files of one that takes changes, which wait for each other. Raises NoTransaction and Forbidden."""
        transaction = self.in_progress(id_)
        permit(CHANGE, id_, transaction.author)
        async with transaction.lock:
            yield self.staged(self._open(id_).id)

    def _open(self, id_: str) -> Transaction:
        transaction = self.in_progress(id_)
        if transaction.closed:
            raise NoTransaction(f"{id_}, which is being committed")
        return transaction

    def _edited(self, transaction: Transaction, edit: Callable[[Document], Document]) -> tuple[Document, Document, patches.Patch | None]:
        before = self._files.document(transaction)
        after = edit(before)
        return before, after, patches.patch(before, after)

    def _wake(self, id_: str, document: Document) -> None:
        """A document in use has an index of its sections; of a thousand open ones, few are in use."""
        self._awake.pop(id_, None)
        self._awake[id_] = document
        if len(self._awake) > _AWAKE:
            self._awake.pop(next(iter(self._awake))).rest()

    def text(self, id_: str) -> bytes:
        """The complete text of one of any status, with its header. Raises NoTransaction."""
        transaction = self._all.get(id_)
        if transaction is None:
            self._look()
        try:
            if transaction and transaction.base is None and transaction.document is None:
                return self._files.data(transaction)
            if transaction:
                return self._stamp(self._files.document(transaction), transaction.version, banner=transaction.banner).data
        except FileNotFoundError:
            pass
        raise NoTransaction(f"transaction file {id_} does not exist")

    def delete(self, id_: str) -> None:
        """Raises NoTransaction and Forbidden."""
        transaction = self.to_delete(id_)
        del self._all[id_]
        self._remove(transaction)

    def to_delete(self, id_: str) -> Transaction:
        """One that the present author may delete. Raises NoTransaction and Forbidden."""
        transaction = self._all.get(id_)
        if transaction is None:
            self._look()
        if transaction is None or transaction.closed:
            raise NoTransaction(f"transaction file {id_} " + ("is being committed" if transaction else "does not exist"))
        permit(DELETE, id_, transaction.author)
        return transaction

    def clear(self) -> None:
        """Deletes all that are not being committed, since their file is gone."""
        for transaction in [one for one in self._all.values() if not one.closed]:
            del self._all[transaction.id]
            self._remove(transaction)

    def succeed(self, id_: str) -> Transaction:
        """Takes out one that was committed."""
        transaction = self._all.pop(id_)
        self._remove(transaction)
        transaction.status, transaction.document = SUCCESS, None
        return transaction

    def fail(self, id_: str, data: bytes) -> None:
        """Keeps a refused text, of a transaction or of a change outside one for diagnosis."""
        known = self._all.get(id_)
        failed = Transaction(id_, FAILED, author=known.author if known else author.get().identity)
        with suppress(OSError):
            self._files.write_failed(failed, data)
            self._all[id_] = failed
        if known and self._all[id_] is failed:
            self._remove(known)
        elif known:
            known.status = FAILED

    def outdate(self, id_: str) -> None:
        """Puts one aside that another writer overtook; its text can still be read."""
        self._files.outdate(self._all[id_])

    def outdate_older(self, version: int) -> None:
        """All that started from this version or an earlier one."""
        for transaction in list(self._all.values()):
            if transaction.status == IN_PROGRESS and transaction.version <= version:
                self.outdate(transaction.id)

    def _remove(self, transaction: Transaction) -> None:
        self._files.remove(transaction)
        self._awake.pop(transaction.id, None)
        self._forget_bases()

    def _forget_bases(self) -> None:
        self._files.keep_bases({one.base for one in self._all.values() if one.base})


def _is_readable(transaction: Transaction) -> bool:
    with suppress(Forbidden):
        permit(READ, transaction.id, transaction.author)
        return True
    return False
