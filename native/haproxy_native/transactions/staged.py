"""Staged files: stored files that a transaction writes or deletes when it is committed.

Their contents are rows of keys.db, since they may contain private keys. Files may be large, so their writes are not queued in memory: while
the disk is full, staging a file fails. HAProxy and other readers of a staged file get a temporary file with its content.
"""

import json
import threading
import uuid
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from hashlib import sha256
from os import fsdecode, fsencode
from pathlib import Path

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.disk.file import ConfigFile, Draft
from haproxy_native.errors import BadRequest, Unreadable, WriteFailed
from haproxy_native.scratch import Scratch

# The limits of one transaction, whose commit loads all files into memory.
MOST_FILES, MOST_BYTES = 1_000, 256 << 20
TABLE = Tables(
    "transactions",
    "CREATE TABLE staged_file (id TEXT NOT NULL, path BLOB NOT NULL, data TEXT NOT NULL, content BLOB, PRIMARY KEY (id, path))",
    are_keys=True,
)


@dataclass(frozen=True)
class StagedFile:
    """A file that the commit of a transaction writes or deletes."""

    # The name of its store, and its name as an object, such as `map/hosts.map`.
    store: str
    object: str
    # The size in bytes; None if the file is deleted.
    size: int | None
    # The digest of the content that it replaces; None if there was no file.
    before: str | None

    @property
    def is_there(self) -> bool:
        return self.size is not None


class Staged:
    """The staged files of a transaction. Without a database, those of a batch. Call `remove` at the end. Methods block."""

    def __init__(self, database: Database | None = None, id_: str = "", files: Mapping[Path, StagedFile] | None = None) -> None:
        self._database, self._id = database, id_
        self.files: dict[Path, StagedFile] = dict(files or {})
        self._lock = threading.Lock()
        self._scratch: Scratch | None = None
        # The temporary files, by path.
        self._copies: dict[Path, Path] = {}

    def _directory(self) -> Path:
        with self._lock:
            if self._scratch is None:
                self._scratch = Scratch("set")
            return self._scratch.path

    def content(self, path: Path) -> Path | None:
        """Return the temporary file with the staged content; None if the file is deleted.

        Raises KeyError for a path that is not staged, Unusable and WriteFailed.
        """
        if not self.files[path].is_there:
            return None
        if (copy := self._copies.get(path)) and copy.exists():
            return copy
        assert self._database

        def read(state: State) -> bytes:
            row = state.keys.execute("SELECT content FROM staged_file WHERE id = ? AND path = ?", (self._id, fsencode(path))).fetchone()
            data: bytes = row[0]
            return data

        data = self._database.read(read)
        copy = self._directory() / str(uuid.uuid4())
        try:
            write_atomically(copy, data, durable=False)
        except OSError as error:
            raise WriteFailed(f"cannot write {copy}: {error.strerror}") from error
        self._copies[path] = copy
        return copy

    @property
    def contents(self) -> dict[Path, Path | None]:
        return {path: self.content(path) for path in self.files}

    def draft(self) -> Draft:
        """Return a draft for the content of a file. Raises WriteFailed and Unusable."""
        directory = self._directory()
        return ConfigFile(directory / str(uuid.uuid4()), directory, mode=0o600).draft(b"", str(uuid.uuid4()))

    def put(self, path: Path, store: str, object_: str, draft: Draft | None, current: Path) -> None:
        """Stage the draft of a file, or its deletion if `draft` is None. `current`: the path of the current content.

        Raises BadRequest if the staged files become too many or too large, Unreadable, WriteFailed and Unusable.
        """
        staged, data = self.files.get(path), draft.path.read_bytes() if draft else None
        size = sum(file.size or 0 for other, file in self.files.items() if other != path) + len(data or b"")
        if size > MOST_BYTES or len({*self.files, path}) > MOST_FILES:
            raise BadRequest(f"the stored files of a transaction may be {MOST_FILES} and have {MOST_BYTES} bytes together; commit it first")
        file = StagedFile(store, object_, None if data is None else len(data), staged.before if staged else digest_of(current))

        def write(state: State) -> None:
            with state.keys.transaction(is_synced=False):
                row = (self._id, fsencode(path), json.dumps(asdict(file)), data)
                state.keys.execute("INSERT OR REPLACE INTO staged_file VALUES (?, ?, ?, ?)", row)

        if self._database:
            self._database.read(write)
        former = self._copies.pop(path, None)
        if draft:
            draft.close()
            self._copies[path] = draft.path
        self.files = {**self.files, path: file}
        if former:
            former.unlink(missing_ok=True)

    def remove(self) -> None:
        """Remove the temporary files."""
        with self._lock:
            if self._scratch:
                self._scratch.remove()
            self._scratch, self._copies = None, {}


# -- in the thread of the database


def read_files(state: State) -> Mapping[str, dict[Path, StagedFile]]:
    """Return the staged files of all transactions, by their ids, without the contents."""
    found = defaultdict[str, dict[Path, StagedFile]](dict)
    for id_, path, data in state.keys.execute("SELECT id, path, data FROM staged_file ORDER BY rowid"):
        found[id_][Path(fsdecode(path))] = StagedFile(**json.loads(data))
    return found


def delete_orphans(state: State) -> None:
    """Delete the staged files of transactions that no longer exist."""
    for (id_,) in state.keys.execute("SELECT DISTINCT id FROM staged_file").fetchall():
        if not state.execute("SELECT 1 FROM open_transaction WHERE id = ?", (id_,)).fetchone():
            delete(id_, state)


def delete(id_: str, state: State) -> None:
    """Delete the staged files of a transaction, and shrink keys.db."""
    if state.keys.execute("SELECT 1 FROM staged_file WHERE id = ?", (id_,)).fetchone():
        with state.keys.transaction(is_synced=False):
            state.keys.execute("DELETE FROM staged_file WHERE id = ?", (id_,))
        state.keys.release_room()


def digest(data: bytes | None) -> str | None:
    """Return a digest of the content of a file; None for no file."""
    return None if data is None else sha256(data).hexdigest()


def digest_of(path: Path) -> str | None:
    """Return the digest of a file; None if the file does not exist. Raises Unreadable."""
    try:
        return digest(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"Cannot read {path}: {error.strerror}") from error
