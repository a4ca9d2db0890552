"""Find the filters that read a SPOE file, and change SPOE files in a commit.

HAProxy reads SPOE files only when it starts, so a change of a file that a filter reads needs a reload. A filter whose path contains an
environment variable counts as a reader of each file whose name occurs in the path. At worst, that causes a needless reload, or refuses to
delete a file that is not used.
"""

import os
import uuid
from collections.abc import Awaitable, Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from haproxy_native.changes.file_operations import Drafted, FileOperation
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.directories import Directory
from haproxy_native.disk.file import ConfigFile, Draft
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.header import without_versions
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import InUse
from haproxy_native.planning.outcome import FilePlan, Reason, line_of
from haproxy_native.planning.touches import ANY, CHANGE, EXPRESSIONS, Touch, has_new_expression
from haproxy_native.text.document import Document, Outline
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted
from haproxy_native.threads import run_in_thread

_FILTERS, _FILE = "filters", "spoe_config"


@dataclass(frozen=True)
class SpoeFilter:
    """A filter line that reads a SPOE file."""

    section: Section
    # Its position among the section's lines.
    place: int
    # Its position among the section's filters.
    index: int

    def line(self, document: Document) -> int:
        return line_of(document, self.section, self.place)

    def text(self) -> str:
        return self.section.lines[self.place].text.strip()

    def reason(self, document: Document, name: str) -> Reason:
        words = self.section.lines[self.place].words
        title = f"{self.section.kind} {self.section.name}"
        return Reason(title, self.line(document), words[0], f"the SPOE file {name}, which it reads, changed")


class SpoeFilters:
    """Finds the filters that read a file. `bases` are the directories that a relative path may be relative to.

    `working` returns another one, HAProxy's working directory, if it is known.
    """

    def __init__(self, editor: Editor, bases: Sequence[Path], working: Callable[[], Path | None] = lambda: None) -> None:
        self._editor, self._bases, self._working = editor, tuple(bases), working
        self._filters = editor.resources[_FILTERS]
        self._kinds = {editor.resources[name].section for name in self._filters.parents}

    def reading(self, document: Document, file: Path) -> list[SpoeFilter]:
        """Return the filters that read a file."""
        return list(self._found(document, file))

    def spelled_out(self, document: Document, file: Path) -> Document:
        """Return the document with each filter that reads the file naming it by exactly the path `file`. Line numbers do not change."""
        for found in self._found(document, file):
            section = document.find(found.section.kind, found.section.name)
            assert section
            read = section.as_read()
            filter_ = self._editor.lines.children(read, self._filters).objects[found.index]
            new = self._editor.lines.replace(read, self._filters, {found.index: {**(filter_ or {}), _FILE: str(file)}})
            document = document.replace(section, new)
        return document

    def _found(self, document: Document, file: Path) -> Iterator[SpoeFilter]:
        for section in document.sections:
            if section.kind in self._kinds and file.name in section.text:
                children = self._editor.lines.children(section.as_read(), self._filters)
                for index, (place, object_) in enumerate(zip(children.places, children.objects, strict=True)):
                    if object_ and _FILE in object_ and self._is(unquoted(object_[_FILE]), file):
                        yield SpoeFilter(section, place, index)

    def _is(self, word: str, file: Path) -> bool:
        if "$" in word:
            return file.name in word
        places = [Path(word)] if os.path.isabs(word) else [base / word for base in (self._working(), *self._bases) if base]
        return os.path.realpath(file) in map(os.path.realpath, places)


@dataclass(frozen=True)
class SpoeStore:
    """The directory of SPOE files, as a commit uses it."""

    context: CommitContext
    home: Directory
    # The directory for drafts and journals.
    storage: Path
    # The directory for failed and outdated transactions.
    transactions: Path
    filters: SpoeFilters
    outline: Outline
    # The reasons to reload if no filter reads the changed file; empty for no reload.
    asked: Sequence[Reason] = ()
    name: ClassVar[str] = "spoe"
    kind: ClassVar[str] = "spoe"

    @property
    def directory(self) -> Path:
        return self.home.path

    async def plan(self, context: Any, path: Path, content: Path | None) -> FilePlan:
        """Plan a reload if a filter reads the file, and either its text changes or an earlier change of it is waiting for a reload.

        Otherwise, plan a reload for the reasons in `asked`, if there are any.
        """
        same = content is not None and await run_in_thread(_same, path, content)
        loaded = same and str(path) not in self.context.ledger.entries
        reasons = [] if loaded else self.reasons(path)
        return FilePlan((), reasons or self.asked, used=bool(self.filters.reading(self._running, path)))

    def draft(self, path: Path, data: bytes = b"") -> Draft:
        self.home.writable()
        return ConfigFile(path, self.storage, mode=0o640, within=self.directory).draft(data, str(uuid.uuid4()))

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        return ()

    def check_content(self, path: Path, draft: Path) -> None:
        """Do nothing: HAProxy checks the file with the configuration."""

    def compared(self, context: Any, path: Path, draft: Path | None) -> tuple[bytes, bytes] | None:
        return path.read_bytes() if path.exists() else b"", draft.read_bytes() if draft else b""

    def refuse_named(self, path: Path, document: Document, directory: str) -> None:
        """Raise InUse if a filter reads the file, in this document or in the one that the worker has loaded."""
        for each in (document, self._running):
            for filter_ in self.filters.reading(each, path):
                line = f"line {filter_.line(each)}: {filter_.text()}"
                raise InUse(f"rejecting attempt to delete file {path} referenced in haproxy conf at {line}")

    @property
    def _running(self) -> Document:
        """The configuration that the worker has loaded. While that is unknown, the current configuration."""
        return self.context.running.document or self.context.current.document

    def reasons(self, file: Path) -> list[Reason]:
        """Return one reason to reload for each filter that reads the file in the configuration that the worker has loaded.

        If there is none and a reload is pending, return those of the current configuration instead.
        """
        for document in (self._running, self.context.current.document) if self.context.pending else (self._running,):
            if filters := self.filters.reading(document, file):
                return [filter_.reason(document, file.name) for filter_ in filters]
        return []


# Returns the present and the future content of a file; None for no file.
Make = Callable[[], Awaitable[tuple[bytes | None, bytes | None]]]


@dataclass(frozen=True)
class PutSpoe(FileOperation):
    """Replaces, creates or deletes a SPOE file."""

    store: SpoeStore
    path: Path
    # Called again if the file changes before the commit.
    make: Make

    async def drafted(self) -> Drafted:
        before, after = await self.make()
        touches = await run_in_thread(self._touches, _text(before), _text(after))
        draft = None if after is None else await run_in_thread(self.store.draft, self.path, after)
        return Drafted({self.path: draft}, {self.path: self.store}, {self.path: before}, touches)

    def _touches(self, before: str, after: str) -> list[Touch]:
        return [self.touch, EXPRESSIONS] if has_new_expression([before], [after]) else [self.touch]

    def spelled_out(self, document: Document) -> Document:
        return self.store.filters.spelled_out(document, self.path)

    def needs_check(self, document: Document) -> bool:
        return bool(self.store.filters.reading(document, self.path))

    @property
    def touch(self) -> Touch:
        return Touch(self.object, CHANGE, frozenset((ANY,)))

    @property
    def object(self) -> str:
        return spelled(self.store.kind, self.path.name)


def _text(data: bytes | None) -> str:
    return (data or b"").decode("utf-8", "surrogateescape")


def _same(path: Path, content: Path) -> bool:
    """Return whether the contents are the same, except for the version lines. Blocks."""
    return path.exists() and without_versions(path.read_bytes()) == without_versions(content.read_bytes())
