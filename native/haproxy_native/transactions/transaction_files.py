"""The files of transactions: of an open one its base and its changes, one line of JSON each; of any other a complete text."""

import errno
import os
import re
import shutil
from collections.abc import Collection, Container, Iterator, Sequence
from contextlib import suppress
from pathlib import Path

from haproxy_native.changes.operations import Edit
from haproxy_native.disk.atomic import move, write_atomically
from haproxy_native.disk.directories import Directory
from haproxy_native.editing import patches
from haproxy_native.text.document import Document
from haproxy_native.text.outline import Outline
from haproxy_native.transactions.bases import Bases
from haproxy_native.transactions.staged import Staged, keep_only
from haproxy_native.transactions.transaction import FAILED, IN_PROGRESS, OUTDATED, Transaction, change_line, changes_of, found, line

# In the order in which the API lists them.
DIRECTORIES = {FAILED: "failed", IN_PROGRESS: "", OUTDATED: "outdated"}
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")


class TransactionFiles:
    """The transactions of one configuration file, in the directory of `place`. Write failures raise Unusable."""

    def __init__(self, place: Directory, file: Path, outline: Outline) -> None:
        self._place, self._file, self._outline = place, file, outline
        self._bases = Bases(place.path / ".bases", file, outline)
        self._staged = place.path / ".files"

    @property
    def is_empty(self) -> bool:
        """A directory that is not there, and not to be made."""
        return not self._place.make and not os.path.lexists(self._place.path)

    def check(self) -> None:
        """Raises Unusable where the directory cannot be read."""
        self._place.readable()

    def all(self) -> Iterator[Transaction]:
        """What an earlier process left; of a directory that cannot be read nothing."""
        for status, name in DIRECTORIES.items():
            with suppress(OSError):
                for path in (self._place.path / name).iterdir():
                    base, _, id_ = path.name.rpartition(".")
                    if base == self._file.name and _UUID.fullmatch(id_) and path.is_file():
                        yield found(id_, status, path)

    def keep_only(self, ids: Container[str]) -> None:
        """Deletes the stored files of others."""
        if self._place.make:
            keep_only(self._staged, ids)

    def keep_bases(self, keys: Collection[str]) -> None:
        """Deletes the others."""
        if self._place.make:
            self._bases.keep_only(set(keys))

    def data(self, transaction: Transaction) -> bytes:
        return self._path(transaction).read_bytes()

    def base(self, key: str) -> Document:
        return self._bases.load(key)

    def document(self, transaction: Transaction) -> Document:
        if transaction.document is not None:
            return transaction.document
        data = self.data(transaction)
        if transaction.base is None:
            document = Document.parse(data, outline=self._outline)
        else:
            changes, transaction.operations = changes_of(data, self._path(transaction))
            document = patches.apply(self._bases.load(transaction.base), changes, self._outline)
        if transaction.status == IN_PROGRESS:
            transaction.document = document
        return document

    def store(self, transaction: Transaction) -> None:
        """Its base, and the file that takes its changes."""
        assert transaction.document
        with self._place.used():
            base = self._bases.store(transaction.document)
            head = {"base": base, "version": transaction.version, "banner": transaction.banner, "author": transaction.author}
            head["started"] = transaction.started
            write_atomically(self._path(transaction), line(head), like=self._file, durable=False)
        transaction.base = base

    def append(self, transaction: Transaction, patch: patches.Patch, operations: Sequence[Edit]) -> None:
        if transaction.base is None:
            self.store(transaction)
        try:
            handle = os.open(self._path(transaction), os.O_WRONLY | os.O_APPEND | os.O_CLOEXEC)
        except OSError as error:
            raise self._place.unusable(error) from error
        size = os.fstat(handle).st_size
        data = change_line(patch, operations)
        try:
            if os.write(handle, data) != len(data):
                raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        except OSError as error:
            os.ftruncate(handle, size)
            raise self._place.unusable(error) from error
        finally:
            os.close(handle)

    def write_failed(self, transaction: Transaction, data: bytes) -> None:
        """The complete text of one that failed. Raises OSError."""
        self._path(transaction).parent.mkdir(mode=0o755, parents=True, exist_ok=True)
        write_atomically(self._path(transaction), data, like=self._file, durable=False)

    def outdate(self, transaction: Transaction) -> None:
        """Puts the file of one in progress aside, and makes it outdated."""
        before = self._path(transaction)
        transaction.status = OUTDATED
        with suppress(OSError):
            self._path(transaction).parent.mkdir(mode=0o755, exist_ok=True)
            move(before, self._path(transaction))
            transaction.document = None

    def staged(self, transaction: Transaction) -> Staged:
        """Its stored files. Raises Unreadable."""
        return Staged(self._staged / transaction.id)

    def remove(self, transaction: Transaction) -> None:
        with suppress(OSError):
            self._path(transaction).unlink()
        shutil.rmtree(self._staged / transaction.id, ignore_errors=True)

    def _path(self, transaction: Transaction) -> Path:
        return self._place.path / DIRECTORIES[transaction.status] / f"{self._file.name}.{transaction.id}"
