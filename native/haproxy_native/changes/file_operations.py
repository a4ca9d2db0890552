"""What is done to stored files as part of a change: maps, certificates, lists, and files for any use.

Like the operations on the configuration, these are values. What a file will contain is written to a draft beside it, and the commit renames
the draft onto the file (native/haproxy_native/commit/publication.py).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from haproxy_native.beside import beside
from haproxy_native.disk.file import Draft
from haproxy_native.errors import BadRequest, Unreadable
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.planning.touches import Touch
from haproxy_native.runtime.commands import Step
from haproxy_native.text.document import Document

# What files contain; None for a file that does not exist.
Contents = Mapping[Path, bytes | None]


class FileStore(Protocol):
    """What a commit needs of the directory that a stored file is in (native/haproxy_native/storage/store.py)."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """The kind of its files as objects, as in `map/hosts.map`."""

    @property
    def directory(self) -> Path: ...

    async def plan(self, context: Any, path: Path, content: Path | None) -> FilePlan:
        """Plan how a file is applied to the worker. It will contain what the file `content` contains now; None deletes it."""

    def draft(self, path: Path, data: bytes = b"") -> Draft:
        """Write a draft of a file. Raises WriteFailed, and Unusable for the directory."""

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        """Return what a change does to the objects in a file; nothing if it does more than that, or if the file has no objects. Blocks."""

    def check_content(self, path: Path, draft: Path) -> None:
        """Raise BadRequest for content that the store does not accept."""

    def refuse_named(self, path: Path, document: Document, directory: str) -> None:
        """Raise InUse for a file that the configuration in `directory` names, with the line."""

    def compared(self, context: Any, path: Path, draft: Path | None) -> tuple[bytes, bytes] | None:
        """Return what a file contains and will contain, empty for no file; None for what no client may read. Blocks. Raises OSError."""


@dataclass(frozen=True)
class Drafted:
    """What an operation makes of stored files."""

    # What files will contain; None for files that are deleted.
    drafts: Mapping[Path, Draft | None]
    stores: Mapping[Path, FileStore]
    # What files contained that this depends on.
    read: Contents = field(default_factory=dict, repr=False)
    # What the author needs the right to; None for whatever differs between each file and its draft.
    touches: Sequence[Touch] | None = None
    # What is sent to the process for a file, instead of what its store plans.
    steps: Mapping[Path, Sequence[Step]] = field(default_factory=dict)
    # Files whose steps apply this change alone, and not all that the file contains.
    partial: Collection[Path] = ()


class FileOperation(ABC):
    """One thing that is done to stored files. The operations of a change are about different files."""

    # Whether it depends on the state of the process, so that it is drafted under the locks.
    reads_process: ClassVar[bool] = False
    # Whether its drafts are used again by the next attempt, and are discarded at the end of the commit.
    keeps_drafts: ClassVar[bool] = False

    @abstractmethod
    async def drafted(self) -> Drafted:
        """Write the drafts. Raises what refuses the change, WriteFailed and Unreadable, and leaves no draft then."""

    def refuse(self) -> None:  # noqa: B027
        """Raise what refuses the change. Called under the locks. Blocks."""

    def refuse_named(self, drafted: Drafted, document: Document, directory: str) -> None:
        """Raise InUse if the configuration, in `directory`, names a file that is deleted. Blocks."""
        for path in (path for path, draft in drafted.drafts.items() if draft is None):
            drafted.stores[path].refuse_named(path, document, directory)

    def spelled_out(self, document: Document) -> Document:
        """Return the configuration with the plain paths of these files, so that it can be checked in another directory."""
        return document

    def needs_check(self, document: Document) -> bool:
        """Return whether HAProxy has to check the files if the configuration does not change."""
        return True

    @property
    def object(self) -> str:
        """The one object that it is about; empty for several."""
        return ""

    def discard(self) -> None:  # noqa: B027
        """Remove the drafts. Called at the end of the commit."""


@dataclass(frozen=True)
class PutFile(FileOperation):
    """Makes a draft the file; without a draft, deletes the file even if the configuration names it."""

    store: FileStore
    path: Path
    draft: Draft | None = None
    # Raises to refuse the change. Called before it is made, and again under the locks.
    check: Callable[[], None] = lambda: None
    # As in `Drafted`.
    steps: Sequence[Step] | None = None
    keeps_drafts: ClassVar[bool] = True

    async def drafted(self) -> Drafted:
        await asyncio.to_thread(self.check)
        steps = {} if self.steps is None else {self.path: self.steps}
        return Drafted({self.path: self.draft}, {self.path: self.store}, steps=steps)

    def refuse(self) -> None:
        self.check()

    def refuse_named(self, drafted: Drafted, document: Document, directory: str) -> None:
        """Leave that to `check`."""

    @property
    def object(self) -> str:
        return f"{self.store.kind}/{self.path.name}"

    def discard(self) -> None:
        if self.draft:
            self.draft.discard()


@dataclass(frozen=True)
class EditFiles(FileOperation):
    """Edits files by a function of what all of them contain. It is called again if one of them changes meanwhile."""

    files: Mapping[Path, FileStore]
    # Given what the files contain, returns what some of them are to contain.
    edit: Callable[[Contents], Contents]
    # Whether the stores check the content.
    is_checked: bool = True
    # As in `Drafted`; called after `edit`.
    touches: Callable[[], Sequence[Touch]] | None = None

    async def drafted(self) -> Drafted:
        read = await asyncio.to_thread(contents, self.files)
        wanted = await beside(self.edit, read)
        after = {path: data for path, data in wanted.items() if data != read[path]}
        drafts = await asyncio.to_thread(self._drafts, after)
        return Drafted(drafts, self.files, read, self.touches() if self.touches else None)

    def _drafts(self, after: Contents) -> dict[Path, Draft | None]:
        drafts = dict[Path, Draft | None]()
        try:
            # Files are deleted last.
            for path, data in sorted(after.items(), key=lambda row: row[1] is None):
                drafts[path] = draft = None if data is None else self.files[path].draft(path, data)
                if draft and self.is_checked:
                    _check_content(self.files[path], path, draft.path)
        except BaseException:
            discard(drafts)
            raise
        return drafts


@dataclass(frozen=True)
class FollowProcess(FileOperation):
    """Writes to files what the process has."""

    # The object that changes.
    about: str
    # Queries the process and writes drafts.
    draft: Callable[[], Awaitable[Drafted]]
    reads_process: ClassVar[bool] = True

    async def drafted(self) -> Drafted:
        return await self.draft()

    @property
    def object(self) -> str:
        return self.about


def _check_content(store: FileStore, path: Path, draft: Path) -> None:
    try:
        store.check_content(path, draft)
    except BadRequest as error:
        raise BadRequest(f"{store.kind}/{path.name}: {error.detail}") from None


def discard(drafts: Mapping[Path, Draft | None]) -> None:
    for draft in drafts.values():
        if draft:
            draft.discard()


def contents(paths: Collection[Path]) -> Contents:
    """Return what files contain. Raises Unreadable."""
    return {path: _read(path) for path in paths}


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"Cannot read {path}: {error.strerror}") from error
