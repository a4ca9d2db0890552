"""What is done to stored files as part of a change: maps, certificates, lists, and files for any use.

Like the operations on the configuration these are values. What a file will hold is written beside it, as a draft, and the commit puts it in
place.
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

# What files hold, None where there is none.
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
        """How a file is applied to the worker that will hold what `content` holds now, or be deleted where it is None."""

    def draft(self, path: Path, data: bytes = b"") -> Draft:
        """Raises WriteFailed, and Unusable for the directory."""

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        """What a change does to what stands in a file; nothing where it is more than that, or where nothing in it is an object. Blocks."""

    def check_content(self, path: Path, draft: Path) -> None:
        """Raises BadRequest for content that the store does not take."""

    def refuse_named(self, path: Path, document: Document, directory: str) -> None:
        """Raises InUse for a file that the configuration in `directory` names, with the line."""

    def compared(self, context: Any, path: Path, draft: Path | None) -> tuple[bytes, bytes] | None:
        """What a file holds and will hold, empty for none; None for what no client may read. Blocks. Raises OSError."""


@dataclass(frozen=True)
class Drafted:
    """`drafts`: what files will hold, None for those that go. `stores`: theirs. `read`: what files held that this depends on.

    `touches`: what is done, for rights; None: what differs between each file and its draft. `steps`: what is sent for a file instead of
    what its store plans. `partial`: files of which the steps apply this change alone, and not all that the file holds.
    """

    drafts: Mapping[Path, Draft | None]
    stores: Mapping[Path, FileStore]
    read: Contents = field(default_factory=dict, repr=False)
    touches: Sequence[Touch] | None = None
    steps: Mapping[Path, Sequence[Step]] = field(default_factory=dict)
    partial: Collection[Path] = ()


class FileOperation(ABC):
    """One thing that is done to stored files; those of one change are about different files.

    `reads_process`: it depends on what the process has, so it is drafted under the locks. `keeps_drafts`: its drafts outlive an attempt
    that was overtaken, and are discarded at the end of the commit.
    """

    reads_process: ClassVar[bool] = False
    keeps_drafts: ClassVar[bool] = False

    @abstractmethod
    async def drafted(self) -> Drafted:
        """Leaves no draft where it raises what speaks against the change, WriteFailed and Unreadable."""

    def refuse(self) -> None:  # noqa: B027
        """Raises, under the locks, what speaks against the change. Blocks."""

    def refuse_named(self, drafted: Drafted, document: Document, directory: str) -> None:
        """Raises InUse where the configuration, in `directory`, names a file that goes. Blocks."""
        for path in (path for path, draft in drafted.drafts.items() if draft is None):
            drafted.stores[path].refuse_named(path, document, directory)

    def spelled_out(self, document: Document) -> Document:
        """Return the configuration with the plain paths of these files, so that they can be checked somewhere else."""
        return document

    def needs_check(self, document: Document) -> bool:
        """Whether HAProxy has to check it if the configuration does not change."""
        return True

    @property
    def object(self) -> str:
        """The one object that it is about; empty for several."""
        return ""

    def discard(self) -> None:  # noqa: B027
        """The commit is over."""


@dataclass(frozen=True)
class PutFile(FileOperation):
    """A draft becomes the file, or without one the file goes, even if the configuration names it.

    `check` raises to refuse it; it is called before the change is made and again under the locks. `steps` as in `Drafted`.
    """

    store: FileStore
    path: Path
    draft: Draft | None = None
    check: Callable[[], None] = lambda: None
    steps: Sequence[Step] | None = None
    keeps_drafts: ClassVar[bool] = True

    async def drafted(self) -> Drafted:
        await asyncio.to_thread(self.check)
        steps = {} if self.steps is None else {self.path: self.steps}
        return Drafted({self.path: self.draft}, {self.path: self.store}, steps=steps)

    def refuse(self) -> None:
        self.check()

    def refuse_named(self, drafted: Drafted, document: Document, directory: str) -> None:
        """That is for `check` to say."""

    @property
    def object(self) -> str:
        return f"{self.store.kind}/{self.path.name}"

    def discard(self) -> None:
        if self.draft:
            self.draft.discard()


@dataclass(frozen=True)
class EditFiles(FileOperation):
    """`edit` is given what all files hold, and returns those that are to hold something else; it is called anew if one of them changes.

    Without `is_checked` the stores are not asked whether they take the content. `touches` is asked after `edit`, as in `Drafted`.
    """

    files: Mapping[Path, FileStore]
    edit: Callable[[Contents], Contents]
    is_checked: bool = True
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
            # What goes is deleted last.
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
    """Files get what the process has: `draft` asks it, and writes drafts. `about`: the object that changes."""

    about: str
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
    """Return what files hold. Raises Unreadable."""
    return {path: _read(path) for path in paths}


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"Cannot read {path}: {error.strerror}") from error
