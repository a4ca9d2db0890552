"""Stored files that a transaction writes or deletes when it is committed, with what each of them replaces."""

import json
import shutil
import uuid
from dataclasses import asdict, dataclass
from hashlib import sha256
from pathlib import Path

from haproxy_native.disk import aside
from haproxy_native.disk.atomic import write_atomically
from haproxy_native.disk.file import ConfigFile, Draft
from haproxy_native.errors import BadRequest, Unreadable, WriteFailed
from haproxy_native.scratch import Scratch

INDEX = "index.json"
# Of one transaction: the commit has all of it in memory.
MOST_FILES, MOST_BYTES = 1_000, 256 << 20


@dataclass(frozen=True)
class StagedFile:
    """`store` is the name of its store, `object` its own, as in `map/hosts.map`. `content` is the name of the file that has what it will
    hold, None where it goes; `before` the digest of what it replaces, None where there was no file.
    """

    store: str
    object: str
    content: str | None
    before: str | None


class Staged:
    """Staged files in a directory of the transaction, or in a temporary one; there is none before the first file."""

    def __init__(self, directory: Path | None) -> None:
        """Raises Unreadable."""
        self._directory = directory
        self._scratch: Scratch | None = None
        self.files: dict[Path, StagedFile] = _known(directory / INDEX) if directory else {}

    @property
    def _place(self) -> Path:
        if self._directory is None:
            self._scratch = Scratch("set")
            self._directory = self._scratch.path
        return self._directory

    def content(self, path: Path) -> Path | None:
        """Returns where a file's staged content is; None if the file is deleted. Raises KeyError if it is not staged."""
        name = self.files[path].content
        return None if name is None else self._place / name

    @property
    def contents(self) -> dict[Path, Path | None]:
        return {path: self.content(path) for path in self.files}

    def draft(self) -> Draft:
        """What is to become the content of a file. Raises WriteFailed and Unusable."""
        if not aside.place.get():
            try:
                self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
            except OSError as error:
                raise WriteFailed(f"cannot write {self._place}: {error.strerror}") from error
        return ConfigFile(self._place / str(uuid.uuid4()), self._place, mode=0o600).draft(b"", str(uuid.uuid4()))

    def put(self, path: Path, store: str, object_: str, draft: Draft | None, now: Path) -> None:
        """Stages a file in the place of what `now` holds. Blocks. Raises BadRequest for too much, and WriteFailed."""
        known = self.files.get(path)
        self._check_size(path, draft)
        before = known.before if known else digest_of(now)
        try:
            if draft:
                draft.install()
            self._place.mkdir(mode=0o700, parents=True, exist_ok=True)
            files = {**self.files, path: StagedFile(store, object_, draft.file.path.name if draft else None, before)}
            index = json.dumps({str(path): asdict(file) for path, file in files.items()}).encode()
            write_atomically(self._place / INDEX, index, durable=self._scratch is None)
        except OSError as error:
            raise WriteFailed(f"cannot write {self._place}: {error.strerror}") from error
        self.files = files
        if known and known.content:
            (self._place / known.content).unlink(missing_ok=True)

    def _check_size(self, path: Path, draft: Draft | None) -> None:
        others = [content for other in self.files if other != path and (content := self.content(other))]
        size = sum(file.stat().st_size for file in [*others, *([draft.path] if draft else [])])
        if size > MOST_BYTES or len({*self.files, path}) > MOST_FILES:
            raise BadRequest(f"the stored files of a transaction may be {MOST_FILES} and have {MOST_BYTES} bytes together; commit it first")

    def remove(self) -> None:
        """Removes the directory with its contents."""
        if self._scratch:
            self._scratch.remove()
        elif self._directory:
            shutil.rmtree(self._directory, ignore_errors=True)


def _known(index: Path) -> dict[Path, StagedFile]:
    try:
        known = json.loads(index.read_bytes())
        return {Path(path): StagedFile(**members) for path, members in known.items()}
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, TypeError, AttributeError) as error:
        raise Unreadable(f"Cannot read the stored files of the transaction, {index}: {error}") from error


def digest(data: bytes | None) -> str | None:
    return None if data is None else sha256(data).hexdigest()


def digest_of(path: Path) -> str | None:
    """Returns a file's digest; None if it does not exist. Raises Unreadable."""
    try:
        return digest(path.read_bytes())
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"Cannot read {path}: {error.strerror}") from error
