"""Store transactions: open and outdated ones in the database, complete texts in a directory.

An open transaction is in memory. The database has its row, its base (the text that it starts from), and a row for each change. Each change
is written in one transaction of the database, so that a kill leaves a change complete or not at all. No write is refused: while the disk
accepts none, it waits in memory (native/haproxy_native/disk/database.py), and only the commit is refused. Transactions with the same base
share one copy of it, which is deleted with the last of them. A text is read only when it is needed, so that thousands of transactions do
not delay the start.

An outdated transaction stays in the database, with its operations, since it can still be merged. So a commit that overtakes a thousand
transactions writes no text.

The directory has complete texts: in `failed` those that HAProxy has refused, for people to read, and the transactions that another server
has left. An open transaction of another server moves into the database with its first change. Its original base is unknown.
"""

import json
import re
import threading
import time
from asyncio import Lock
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path
from typing import Any

from haproxy_native.changes.operations import Edit, PutDocument, as_operation, as_row
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.database import Database, State, Tables, Work
from haproxy_native.disk.directories import Directory
from haproxy_native.editing import patches
from haproxy_native.editing.header import version_of
from haproxy_native.errors import Unusable
from haproxy_native.text.document import Document, Outline
from haproxy_native.transactions import staged
from haproxy_native.transactions.staged import Staged

IN_PROGRESS, FAILED, OUTDATED, SUCCESS = "in_progress", "failed", "outdated", "success"
# The subdirectory of each status, in the order in which the API lists transactions.
DIRECTORIES = {FAILED: "failed", IN_PROGRESS: "", OUTDATED: "outdated"}
# The number of ended transactions that are remembered.
MOST_ENDED = 1_000
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_TABLES = """\
CREATE TABLE open_transaction (
    id TEXT PRIMARY KEY, file TEXT NOT NULL, status TEXT NOT NULL, version INTEGER NOT NULL, base TEXT NOT NULL, adopted INTEGER NOT NULL,
    banner INTEGER NOT NULL, author TEXT NOT NULL, started REAL NOT NULL, used REAL NOT NULL
);
CREATE INDEX transaction_of_base ON open_transaction (base);
CREATE TABLE transaction_change (id TEXT NOT NULL, number INTEGER NOT NULL, data TEXT NOT NULL, PRIMARY KEY (id, number));
CREATE TABLE transaction_base (key TEXT PRIMARY KEY, data BLOB NOT NULL);
CREATE TABLE ended_transaction (number INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, time REAL NOT NULL, seconds REAL NOT NULL)
"""
TABLES = (Tables("transactions", _TABLES), staged.TABLE)
_COLUMNS = ("id", "status", "version", "base", "adopted", "banner", "author", "started", "used")
_ROW = ", ".join(_COLUMNS)
_UNUSED = "DELETE FROM transaction_base WHERE NOT EXISTS (SELECT 1 FROM open_transaction WHERE base = transaction_base.key)"


# (time of the end, seconds without use before it), by the id of the transaction.
_Ended = dict[str, tuple[float, float]]


@dataclass
class Transaction:
    """A transaction. Unknown times (Unix seconds) are 0, and unknown strings are empty."""

    id: str
    status: str
    # The version that it started from.
    version: int = 0
    # The key of the text that its changes are applied to; None if the transaction is a complete text in the directory.
    base: str | None = None
    # Whether `base` is the text that another server had left of the transaction, and not the text that the transaction started from.
    adopted: bool = False
    # Whether its text has the banner lines.
    banner: bool = True
    # The identity of its author.
    author: str = ""
    started: float = 0.0
    # The time of the last edit or read. Reads by a former process do not count.
    used: float = 0.0
    # The document after its operations. For a transaction of a former process, None until it is read.
    document: Document | None = field(default=None, repr=False)
    operations: list[Edit] = field(default_factory=list, repr=False)
    # The number of its changes; the changes that are not written yet, each with its number; and whether its row is written.
    changes: int = 0
    unwritten: list[tuple[int, str]] = field(default_factory=list, repr=False)
    is_written: bool = False
    staged: Staged = field(default_factory=Staged, repr=False)
    # Whether it is being committed. It accepts no changes then, since they would be lost.
    closed: bool = False
    lock: Lock = field(default_factory=Lock, repr=False)

    @property
    def is_idle(self) -> bool:
        """Whether it is in progress, and neither edited nor committed at this moment."""
        return self.status == IN_PROGRESS and not (self.closed or self.lock.locked())

    def as_dict(self) -> dict[str, Any]:
        """Return the transaction as the API shows it."""
        version = {"_version": self.version} if self.version and self.status in (IN_PROGRESS, SUCCESS) else {}
        return {**version, "id": self.id, "status": self.status}


class TransactionStore:
    """The stored transactions of one file. `name` identifies the file in the rows. Methods that read block."""

    def __init__(self, database: Database, name: str, directory: Directory, file: Path, outline: Outline) -> None:
        self._database, self._name, self._directory, self._file, self._outline = database, name, directory, file, outline
        self._bases: dict[str, Document] = {}
        self._ended: _Ended = {}
        self._reading = threading.Lock()

    def _post(self, work: Work[object]) -> None:
        if self._directory.make:
            self._database.post(work)

    async def written(self) -> None:
        """Wait until each queued write survives a kill of this process, or waits in memory because the disk does not accept it."""
        with suppress(Unusable):
            await self._database.catch_up()

    # -- in the database

    def rows(self) -> dict[str, Transaction]:
        """Return the transactions of former processes, without their texts. Raises Unusable."""

        def read(state: State) -> tuple[list[Transaction], Mapping[str, dict[Path, staged.StagedFile]], _Ended]:
            rows = state.execute(f"SELECT {_ROW} FROM open_transaction WHERE file = ?", (self._name,))
            transactions = [Transaction(**dict(zip(_COLUMNS, row, strict=True)), is_written=True) for row in rows]
            ended = state.execute("SELECT id, time, seconds FROM ended_transaction ORDER BY number")
            return transactions, staged.read_files(state), {id_: (when, seconds) for id_, when, seconds in ended}

        transactions, files, self._ended = self._database.read(read)
        found = {transaction.id: transaction for transaction in transactions}
        self._post(staged.delete_orphans)
        for transaction in found.values():
            transaction.staged = Staged(self._database, transaction.id, files.get(transaction.id, {}))
        return found

    def start(self, transaction: Transaction, base: Document) -> None:
        """Store a new transaction, with the text that it starts from."""
        transaction.base, transaction.staged = self._key(base), Staged(self._database, transaction.id)
        self.save(transaction)

    def adopt(self, transaction: Transaction) -> None:
        """Move an open transaction of another server into the database. Raises Unusable."""
        try:
            transaction.base, transaction.adopted = self._key(self.document(transaction)), True
        except OSError as error:
            raise self._directory.unusable(error) from error
        self.save(transaction)
        self._post(lambda _: _unlink(self._path(IN_PROGRESS, transaction.id)))

    async def add(self, transaction: Transaction, patch: patches.Patch, operations: Sequence[Edit]) -> None:
        """Store one change: its operations, and their patch of the text. Return when it is `written`.

        The caller holds the lock of the transaction.
        """
        is_waiting = bool(transaction.unwritten and self._database.backlog)
        transaction.unwritten.append((transaction.changes, json.dumps((*patch, [as_row(operation) for operation in operations]))))
        transaction.changes += 1
        if is_waiting:
            # A write of this transaction is waiting already and will include this change. A second one could displace other writes.
            await self.written()
        else:
            await self._database.write(self._saving(transaction))

    def save(self, *transactions: Transaction) -> None:
        """Schedule the write of the rows of transactions, and of their unwritten changes and bases."""
        self._post(self._saving(*transactions))

    def _saving(self, *transactions: Transaction) -> Work[None]:
        bases = {one.base: self._bases[one.base] for one in transactions if one.base and not one.is_written}

        def write(state: State) -> None:
            changes = [(one, one.unwritten[:]) for one in transactions]
            with state.transaction(is_synced=False):
                for key, document in bases.items():
                    if not state.execute("SELECT 1 FROM transaction_base WHERE key = ?", (key,)).fetchone():
                        state.execute("INSERT INTO transaction_base VALUES (?, ?)", (key, document.data))
                for one, rows in changes:
                    row = [getattr(one, column) for column in _COLUMNS]
                    values = f"(?{', ?' * len(row)})"
                    state.execute(f"INSERT OR REPLACE INTO open_transaction (file, {_ROW}) VALUES {values}", (self._name, *row))
                    state.executemany("INSERT OR REPLACE INTO transaction_change VALUES (?, ?, ?)", [(one.id, *each) for each in rows])
            for one, rows in changes:
                del one.unwritten[: len(rows)]
                one.is_written = True

        return write

    def document(self, transaction: Transaction) -> Document:
        """Return the document of a transaction after its operations. Raises Unusable, and OSError for a complete text.

        From then on, the document and the operations of an open transaction stay in memory.
        """
        if (known := transaction.document) is not None:
            return known
        changes, operations = list[patches.Patch](), list[Edit]()
        if transaction.base is None:
            document = base = Document.parse(self.data(transaction), outline=self._outline)
        else:

            def read(state: State) -> None:
                for (data,) in state.execute("SELECT data FROM transaction_change WHERE id = ? ORDER BY number", (transaction.id,)):
                    start, gone, put, rows = json.loads(data)
                    patch = int(start), int(gone), str(put)
                    changes.append(patch)
                    operations.extend(as_operation(row, patch) for row in rows)

            base = self.base(transaction.base)
            self._database.read(read)
            document = patches.apply(base, changes, self._outline) if changes else base
        with self._reading:
            if transaction.document is not None:
                # Another thread has read the document first, and it may have been edited since.
                return transaction.document
            # A text of another server replaces the configuration. If there are several files, it may have only some of them.
            whole = [PutDocument(base)] if transaction.base is None or transaction.adopted else []
            transaction.operations, transaction.changes = [*whole, *operations], len(changes)
            if transaction.status == IN_PROGRESS:
                transaction.document = document
        return document

    def base(self, key: str) -> Document:
        """Return a text that transactions start from. Raises Unusable."""

        def read(state: State) -> bytes:
            data: bytes = state.execute("SELECT data FROM transaction_base WHERE key = ?", (key,)).fetchone()[0]
            return data

        if key not in self._bases:
            self._bases[key] = Document.parse(self._database.read(read), outline=self._outline)
        return self._bases[key]

    def _key(self, document: Document) -> str:
        for key, known in self._bases.items():
            if known is document:
                return key
        key = md5(document.data, usedforsecurity=False).hexdigest()
        self._bases[key] = document
        return key

    def keep_bases(self, keys: set[str | None]) -> None:
        """Remove from memory the bases with other keys than these, which no transaction needs any more."""
        self._bases = {key: document for key, document in self._bases.items() if key in keys}

    # -- in the directory

    def texts(self) -> Iterator[Transaction]:
        """Yield the transactions whose complete texts are in the directory. Raises Unusable if the directory cannot be read."""
        directory = self._directory.readable()
        for status, name in DIRECTORIES.items():
            with suppress(OSError):
                for path in (directory / name).iterdir():
                    file, _, id_ = path.name.rpartition(".")
                    if file == self._file.name and _UUID.fullmatch(id_) and path.is_file():
                        version = version_of(Document.parse(path.read_bytes())) if status == IN_PROGRESS else 0
                        yield Transaction(id_, status, version, used=path.stat().st_mtime, staged=Staged(self._database, id_))

    def data(self, transaction: Transaction) -> bytes:
        """Return a complete text. Raises OSError."""
        return self._path(transaction.status, transaction.id).read_bytes()

    def write_failed(self, transaction: Transaction, data: bytes) -> None:
        """Write the complete text of a transaction that failed, with the mode and the owner of the configuration. Raises OSError."""
        path = self._path(FAILED, transaction.id)
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        write_atomically(path, data, like=self._file, durable=False)

    def _path(self, status: str, id_: str) -> Path:
        return self._directory.path / DIRECTORIES[status] / f"{self._file.name}.{id_}"

    # -- in both

    def set_status(self, status: str, *transactions: Transaction) -> None:
        """Set the status of transactions to OUTDATED or FAILED, and store it. Raises nothing."""
        for transaction in transactions:
            if transaction.base is None:
                with suppress(Unusable):
                    self.adopt(transaction)
            transaction.status = status
            if transaction.is_written and not transaction.unwritten:
                transaction.document = None
        self.save(*(one for one in transactions if one.base is not None))

    def remove(self, transaction: Transaction) -> None:
        """Delete a transaction from the database and the directory. Raises nothing."""

        def delete(state: State) -> None:
            with state.transaction(is_synced=False):
                state.execute("DELETE FROM open_transaction WHERE id = ?", (transaction.id,))
                state.execute("DELETE FROM transaction_change WHERE id = ?", (transaction.id,))
                state.execute(_UNUSED)
            staged.delete(transaction.id, state)

        if transaction.base is None or transaction.adopted:
            _unlink(self._path(IN_PROGRESS if transaction.adopted else transaction.status, transaction.id))
        if transaction.base is not None:
            self._post(delete)
        transaction.staged.remove()

    # -- ended transactions

    def add_ended(self, id_: str, seconds: float) -> None:
        """Record that a transaction was ended because it had not been used for this number of seconds."""
        when = time.time()
        self._ended = dict(list({**self._ended, id_: (when, seconds)}.items())[-MOST_ENDED:])

        def write(state: State) -> None:
            with state.transaction(is_synced=False):
                row = (id_, when, seconds)
                state.execute("INSERT OR REPLACE INTO ended_transaction (id, time, seconds) VALUES (?, ?, ?)", row)
                state.execute(
                    "DELETE FROM ended_transaction WHERE number <= (SELECT max(number) FROM ended_transaction) - ?", (MOST_ENDED,)
                )

        self._post(write)

    def why_ended(self, id_: str) -> str:
        """Return when and why a transaction was ended; empty if it was not ended for being idle."""
        if id_ not in self._ended:
            return ""
        when, seconds = self._ended[id_]
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
        return f"transaction {id_} was ended at {at}, since it had not been used for {seconds:g} s (transaction_ttl); start another one"


def _unlink(path: Path) -> None:
    with suppress(OSError):
        path.unlink()
