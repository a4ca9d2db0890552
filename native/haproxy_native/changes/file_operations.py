"""Operations of a change on stored files: maps, certificates, lists, and files for any use.

Like the operations on the configuration, these are values. The new content of a file is written to a draft next to it, and the commit
renames the draft onto the file (native/haproxy_native/commit/publication.py).
"""

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from haproxy_native.disk.file import Draft
from haproxy_native.errors import BadRequest, Unreadable
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.planning.touches import Touch
from haproxy_native.runtime.commands import Step
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

# What files contain; None for a file that does not exist.
Contents = Mapping[Path, bytes | None]


class FileStore(Protocol):
    """The directory of a stored file, as a commit uses it. Implemented in native/haproxy_native/storage/store.py."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """The kind of the files in names of objects, such as `map` in `map/hosts.map`."""

    @property
    def directory(self) -> Path: ...

    async def plan(self, context: Any, path: Path, content: Path | None) -> FilePlan:
        """Plan how to apply a file to the worker. `content`: the path of the draft with the new content; None deletes the file."""

    def draft(self, path: Path, data: bytes = b"") -> Draft:
        """Write a draft of a file. Raises WriteFailed, and Unusable for the directory."""

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        """Return the objects in a file that a change affects. Blocks.

        The result is empty if the change also affects other parts of the file, or if the file has no objects.
        """

    def check_content(self, path: Path, draft: Path) -> None:
        """Raise BadRequest if the store does not accept the draft as the content of the file at `path`."""

    def refuse_named(self, path: Path, document: Document, directory: str) -> None:
        """Raise InUse if the configuration names the file. The error names the line. `directory`: the directory of the configuration."""

    def compared(self, context: Any, path: Path, draft: Path | None) -> tuple[bytes, bytes] | None:
        """Return the contents of a file before and after a change, for a diff. Blocks. Raises OSError.

        A missing file counts as empty. Returns None if clients may not read the content, such as a private key.
        """


@dataclass(frozen=True)
class Drafted:
    """The drafts of one operation."""

    # By the path of each file; None for files that are deleted.
    drafts: Mapping[Path, Draft | None]
    stores: Mapping[Path, FileStore]
    # The contents of files from which the drafts were made.
    read: Contents = field(default_factory=dict, repr=False)
    # What the author needs permission for; None to derive that from the differences between each file and its draft.
    touches: Sequence[Touch] | None = None
    # The steps that apply a file to the process, instead of those that its store plans.
    steps: Mapping[Path, Sequence[Step]] = field(default_factory=dict)
    # Files whose steps apply only this change, and not the whole content of the file.
    partial: Collection[Path] = ()


class FileOperation(ABC):
    """One operation on stored files. No two operations of a change concern the same file."""

    # Whether its drafts depend on the state of the process, so that they are written under the locks.
    reads_process: ClassVar[bool] = False
    # Whether its drafts are reused by the next attempt of the commit, and discarded only at the end of the commit.
    keeps_drafts: ClassVar[bool] = False

    @abstractmethod
    async def drafted(self) -> Drafted:
        """Write the drafts, and return them. If this raises, it leaves no draft.

        Raises WriteFailed, Unreadable, and any error that refuses the change.
        """

    def refuse(self) -> None:  # noqa: B027
        """Raise an error if the change must be refused. Called under the locks. Blocks."""

    def refuse_named(self, drafted: Drafted, document: Document, directory: str) -> None:
        """Raise InUse if the configuration names a file that this operation deletes. Blocks.

        `directory`: the directory of the configuration.
        """
        for path in (path for path, draft in drafted.drafts.items() if draft is None):
            drafted.stores[path].refuse_named(path, document, directory)

    def spelled_out(self, document: Document) -> Document:
        """Return the configuration with each reference to a file of this operation written as its path in `drafted`.

        These are the paths of the stored files. The check of a change with several files finds them, and replaces
        them by the paths of the drafts.
        """
        return document

    def needs_check(self, document: Document) -> bool:
        """Return whether HAProxy has to check the files if the configuration does not change."""
        return True

    @property
    def object(self) -> str:
        """The name of the object that the operation changes; empty if there are several."""
        return ""

    def discard(self) -> None:  # noqa: B027
        """Remove the drafts. Called at the end of the commit."""


@dataclass(frozen=True)
class PutFile(FileOperation):
    """Replaces a file by a draft. Without a draft, deletes the file, even if the configuration names the file."""

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
        """Do nothing: `check` decides whether the file may be deleted."""

    @property
    def object(self) -> str:
        return f"{self.store.kind}/{self.path.name}"

    def discard(self) -> None:
        if self.draft:
            self.draft.discard()


@dataclass(frozen=True)
class EditFiles(FileOperation):
    """Edits files with the function `edit`, which is called again if another writer changes a file before the commit."""

    files: Mapping[Path, FileStore]
    # Takes the contents of all files, and returns the new contents of some of them; None deletes a file.
    edit: Callable[[Contents], Contents]
    # Whether the stores check the content.
    is_checked: bool = True
    # As in `Drafted`; called after `edit`.
    touches: Callable[[], Sequence[Touch]] | None = None

    async def drafted(self) -> Drafted:
        before = await asyncio.to_thread(contents, self.files)
        edited = await run_in_thread(self.edit, before)
        changes = [(path, data) for path, data in edited.items() if data != before[path]]

        def write_drafts() -> dict[Path, Draft | None]:
            drafts = dict[Path, Draft | None]()
            try:
                # Files are deleted last.
                for path, data in sorted(changes, key=lambda change: change[1] is None):
                    store = self.files[path]
                    drafts[path] = draft = None if data is None else store.draft(path, data)
                    if draft and self.is_checked:
                        try:
                            store.check_content(path, draft.path)
                        except BadRequest as error:
                            raise BadRequest(f"{store.kind}/{path.name}: {error.detail}") from None
            except BaseException:
                discard(drafts)
                raise
            return drafts

        drafts = await asyncio.to_thread(write_drafts)
        return Drafted(drafts, self.files, before, self.touches() if self.touches else None)


@dataclass(frozen=True)
class FollowProcess(FileOperation):
    """Writes the state of the process to files."""

    # The name of the object that changes.
    about: str
    # Queries the process and writes drafts.
    draft: Callable[[], Awaitable[Drafted]]
    reads_process: ClassVar[bool] = True

    async def drafted(self) -> Drafted:
        return await self.draft()

    @property
    def object(self) -> str:
        return self.about


def discard(drafts: Mapping[Path, Draft | None]) -> None:
    for draft in drafts.values():
        if draft:
            draft.discard()


def contents(paths: Collection[Path]) -> Contents:
    """Return the contents of files. Raises Unreadable. Blocks."""
    found: dict[Path, bytes | None] = {}
    for path in paths:
        try:
            found[path] = path.read_bytes()
        except FileNotFoundError:
            found[path] = None
        except OSError as error:
            raise Unreadable(f"Cannot read {path}: {error.strerror}") from error
    return found
