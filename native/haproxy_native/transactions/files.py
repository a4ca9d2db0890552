"""The files of transactions, which survive a restart; people read those that failed.

The file of an open transaction has a line of JSON about it, then one for each change: what it did to the text, and the operations that did
it. Any other file is a complete text, and so are all that another server has left. The texts that transactions start from stand in
`.bases`, each once however many transactions share it, and their stored files in `.files`. `.ended` says which were ended, and why.
"""

import asyncio
import errno
import json
import os
import re
import shutil
import time
from collections.abc import Container, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import md5
from pathlib import Path
from typing import Any

from haproxy_native.changes.operations import Edit, PutDocument
from haproxy_native.changes.stored import as_operation, as_row
from haproxy_native.disk.atomic import move, write_atomically
from haproxy_native.disk.directories import Directory
from haproxy_native.editing import patches
from haproxy_native.editing.header import version_of
from haproxy_native.text.document import Document
from haproxy_native.text.outline import Outline
from haproxy_native.transactions.staged import Staged

IN_PROGRESS, FAILED, OUTDATED, SUCCESS = "in_progress", "failed", "outdated", "success"
# In the order in which the API lists them.
DIRECTORIES = {FAILED: "failed", IN_PROGRESS: "", OUTDATED: "outdated"}
_BASES, _STAGED, _ENDED = ".bases", ".files", ".ended"
# So many ended transactions are remembered.
MOST_ENDED = 1_000
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
_HEAD = b'{"base": '


@dataclass
class Transaction:
    """One transaction. Unix times are 0, and texts empty, if they are not known."""

    id: str
    status: str
    # The version that it started from, and the key of its text.
    version: int = 0
    base: str | None = None
    # Whether its text is to have the banner lines.
    banner: bool = True
    # The identity of its author.
    author: str = ""
    # What its operations have made; of a former process, once it is read.
    document: Document | None = field(default=None, repr=False)
    operations: list[Edit] = field(default_factory=list, repr=False)
    # Its stored files, once they are asked for.
    staged: Staged | None = field(default=None, repr=False)
    started: float = 0.0
    # The last edit or read; reads of a former process do not count.
    used: float = 0.0
    # Whether it is being committed: a change would come too late and be lost.
    closed: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def is_idle(self) -> bool:
        """Whether it is in progress, and neither edited nor committed at this moment."""
        return self.status == IN_PROGRESS and not (self.closed or self.lock.locked())

    def as_dict(self) -> dict[str, Any]:
        """Return the transaction as the API shows it."""
        version = {"_version": self.version} if self.version and self.status in (IN_PROGRESS, SUCCESS) else {}
        return {**version, "id": self.id, "status": self.status}


class TransactionFiles:
    """The files of the transactions of one configuration file. Methods block, and raise OSError unless they name another error."""

    def __init__(self, place: Directory, file: Path, outline: Outline) -> None:
        self._place, self._file, self._outline = place, file, outline
        self._bases: dict[str, Document] = {}
        self._ended: dict[str, tuple[float, float]] | None = None

    def check(self) -> bool:
        """Return whether there is a directory, or is to be one. Raises Unusable if it cannot be read."""
        if not self._place.make and not os.path.lexists(self._place.path):
            return False
        self._place.readable()
        return True

    def all(self) -> Iterator[Transaction]:
        """Yield what an earlier process left; of a directory that cannot be read nothing."""
        for status, name in DIRECTORIES.items():
            with suppress(OSError):
                for path in (self._place.path / name).iterdir():
                    file, _, id_ = path.name.rpartition(".")
                    if file == self._file.name and _UUID.fullmatch(id_) and path.is_file():
                        yield _found(id_, status, path)

    # -- open transactions

    def store(self, transaction: Transaction) -> None:
        """Write the base of a new transaction, and the file that takes its changes. Raises Unusable."""
        assert transaction.document
        with self._place.used():
            base = self._stored_base(transaction.document)
            head = {"base": base, "version": transaction.version, "banner": transaction.banner, "author": transaction.author}
            self._write(self._path(transaction), _line({**head, "started": transaction.started}))
        transaction.base = base

    def append(self, transaction: Transaction, patch: patches.Patch, operations: Sequence[Edit]) -> None:
        """Write one change: what it does to the text, and the operations that do it. Raises Unusable, with nothing changed."""
        if transaction.base is None:
            self.store(transaction)
        data = _line((*patch, [as_row(operation) for operation in operations]))
        try:
            with self._path(transaction).open("r+b", buffering=0) as file:
                size = file.seek(0, os.SEEK_END)
                try:
                    if file.write(data) != len(data):
                        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
                except OSError:
                    file.truncate(size)
                    raise
        except OSError as error:
            raise self._place.unusable(error) from error

    def document(self, transaction: Transaction) -> Document:
        """Return what a transaction has become, which is kept of an open one, and so are its operations."""
        if transaction.document is not None:
            return transaction.document
        data = self.data(transaction)
        if transaction.base is None:
            document = Document.parse(data, outline=self._outline)
            # Of several files it may have only some.
            transaction.operations = [PutDocument(document)]
        else:
            changes, transaction.operations = _changes_of(data, self._path(transaction))
            document = patches.apply(self.base(transaction.base), changes, self._outline)
        if transaction.status == IN_PROGRESS:
            transaction.document = document
        return document

    def data(self, transaction: Transaction) -> bytes:
        """Return what stands in the file of a transaction."""
        return self._path(transaction).read_bytes()

    def base(self, key: str) -> Document:
        """Return a text that transactions start from."""
        if key not in self._bases:
            self._bases[key] = Document.parse(self._base(key).read_bytes(), outline=self._outline)
        return self._bases[key]

    def _stored_base(self, document: Document) -> str:
        for key, known in self._bases.items():
            if known is document:
                return key
        key = md5(document.data, usedforsecurity=False).hexdigest()
        if not self._base(key).exists():
            self._write(self._base(key), document.data)
        self._bases[key] = document
        return key

    def staged(self, transaction: Transaction) -> Staged:
        """Return the stored files of a transaction. Raises Unreadable."""
        return Staged(self._place.path / _STAGED / transaction.id)

    # -- others

    def write_failed(self, transaction: Transaction, data: bytes) -> None:
        """Write the complete text of a transaction that failed."""
        self._write(self._path(transaction), data)

    def outdate(self, transaction: Transaction) -> None:
        """Put the file of a transaction in progress aside, and make the transaction outdated. Raises nothing."""
        before = self._path(transaction)
        transaction.status = OUTDATED
        with suppress(OSError):
            self._path(transaction).parent.mkdir(mode=0o755, exist_ok=True)
            move(before, self._path(transaction))
            transaction.document = None

    def remove(self, transaction: Transaction) -> None:
        """Delete the file of a transaction and its stored files. Raises nothing."""
        with suppress(OSError):
            self._path(transaction).unlink()
        shutil.rmtree(self._place.path / _STAGED / transaction.id, ignore_errors=True)

    def keep_bases(self, keys: set[str | None]) -> None:
        """Delete the texts that no transaction starts from any more. Raises nothing."""
        self._bases = {key: document for key, document in self._bases.items() if key in keys}
        with suppress(OSError):
            for path in (self._place.path / _BASES).iterdir() if self._place.make else ():
                file, _, key = path.name.rpartition(".")
                if file == self._file.name and key not in keys:
                    path.unlink(missing_ok=True)
            (self._place.path / _BASES).rmdir()

    def keep_staged(self, ids: Container[str]) -> None:
        """Delete the stored files of other transactions. Raises nothing."""
        with suppress(OSError):
            for path in (self._place.path / _STAGED).iterdir() if self._place.make else ():
                if path.name not in ids:
                    shutil.rmtree(path, ignore_errors=True)

    # -- ended transactions

    def add_ended(self, id_: str, seconds: float) -> None:
        """Note that a transaction was ended, since it had not been used for so many seconds. Raises nothing."""
        known = {**self._all_ended(), id_: (time.time(), seconds)}
        self._ended = dict(list(known.items())[-MOST_ENDED:])
        with suppress(OSError):
            write_atomically(self._place.path / _ENDED, json.dumps(self._ended).encode(), durable=False)

    def why_ended(self, id_: str) -> str:
        """Return when a transaction was ended, and why; empty for one that was not ended so, or if that cannot be read."""
        if id_ not in self._all_ended():
            return ""
        when, seconds = self._all_ended()[id_]
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(when))
        return f"transaction {id_} was ended at {at}, since it had not been used for {seconds:g} s (transaction_ttl); start another one"

    def _all_ended(self) -> dict[str, tuple[float, float]]:
        if self._ended is None:
            self._ended = {}
            with suppress(OSError, ValueError, TypeError, AttributeError):
                rows = json.loads((self._place.path / _ENDED).read_bytes()).items()
                self._ended = {str(id_): (float(when), float(seconds)) for id_, (when, seconds) in rows}
        return self._ended

    # -- paths

    def _path(self, transaction: Transaction) -> Path:
        return self._place.path / DIRECTORIES[transaction.status] / f"{self._file.name}.{transaction.id}"

    def _base(self, key: str) -> Path:
        return self._place.path / _BASES / f"{self._file.name}.{key}"

    def _write(self, path: Path, data: bytes) -> None:
        """Write a file with the mode and the owner of the configuration file."""
        path.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        write_atomically(path, data, like=self._file, durable=False)


def _line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def _found(id_: str, status: str, path: Path) -> Transaction:
    """Return what a file of an earlier process is about; one that is not ours is a complete text."""
    used = path.stat().st_mtime
    with path.open("rb") as file:
        first = file.readline()
        if first.startswith(_HEAD):
            with suppress(ValueError, TypeError):
                return Transaction(id_, status, used=used, **json.loads(first))
        version = version_of(Document.parse(first + file.read())) if status == IN_PROGRESS else 0
    return Transaction(id_, status, version, used=used)


def _changes_of(data: bytes, path: Path) -> tuple[list[patches.Patch], list[Edit]]:
    """Return the changes up to a line that a crash cut off; the file loses that piece, so that the next change can follow."""
    changes: list[patches.Patch] = []
    operations: list[Edit] = []
    head, *lines, _ = data.split(b"\n")
    size = len(head) + 1
    for line in lines:
        try:
            start, gone, put, rows = json.loads(line)
            patch = int(start), int(gone), str(put)
            made = [as_operation(row, patch) for row in rows]
        except (ValueError, TypeError, KeyError, AttributeError):
            break
        size += len(line) + 1
        changes.append(patch)
        operations += made
    if size < len(data):
        with suppress(OSError):
            os.truncate(path, size)
    return changes, operations
