"""Find the filters that read a SPOE file, and change SPOE files in a commit.

HAProxy reads SPOE files only when it starts, so a change of a file that a filter reads needs a reload. A filter whose path contains an
environment variable counts as a reader of each file whose name occurs in the path. In the worst case, this causes a needless reload, or
prevents the deletion of an unused file.
"""

import os
import uuid
from collections.abc import Awaitable, Callable, Sequence
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
    # The index of the line among the section's lines.
    line_index: int
    # The index of the filter among the section's filters.
    index: int

    def line(self, document: Document) -> int:
        return line_of(document, self.section, self.line_index)

    def text(self) -> str:
        return self.section.lines[self.line_index].text.strip()

    def reason(self, document: Document, name: str) -> Reason:
        words = self.section.lines[self.line_index].words
        title = f"{self.section.kind} {self.section.name}"
        return Reason(f"the SPOE file {name}, which it reads, changed", title, self.line(document), words[0])


class SpoeFilters:
    """Finds the filters of a configuration that read a SPOE file.

    A relative path in a filter may be relative to one of the directories `bases`, or to HAProxy's working directory. `working` returns the
    working directory, or None if it is unknown.
    """

    def __init__(self, editor: Editor, bases: Sequence[Path], working: Callable[[], Path | None] = lambda: None) -> None:
        self._editor, self._bases, self._working = editor, tuple(bases), working
        self._filters = editor.resources[_FILTERS]
        self._kinds = {editor.resources[name].section for name in self._filters.parents}

    def reading(self, document: Document, file: Path) -> list[SpoeFilter]:
        """Return the filters that read a file."""
        filters = []
        for section in document.sections:
            if section.kind in self._kinds and file.name in section.text:
                children = self._editor.lines.children(section.as_read(), self._filters)
                for index, (line_index, object_) in enumerate(zip(children.places, children.objects, strict=True)):
                    if object_ and _FILE in object_ and self._may_mean(unquoted(object_[_FILE]), file):
                        filters.append(SpoeFilter(section, line_index, index))
        return filters

    def _may_mean(self, word: str, file: Path) -> bool:
        """Return whether a path in a filter may lead to a file. Follows links on the disk."""
        if "$" in word:
            return file.name in word
        paths = [Path(word)] if os.path.isabs(word) else [base / word for base in (self._working(), *self._bases) if base]
        return os.path.realpath(file) in map(os.path.realpath, paths)

    def spelled_out(self, document: Document, file: Path) -> Document:
        """Return the document with `file` as the path in each filter that reads `file`. Line numbers do not change."""
        for reader in self.reading(document, file):
            section = document.find(reader.section.kind, reader.section.name)
            assert section
            read = section.as_read()
            filter_ = self._editor.lines.children(read, self._filters).objects[reader.index]
            new = self._editor.lines.replace(read, self._filters, {reader.index: {**(filter_ or {}), _FILE: str(file)}})
            document = document.replace(section, new)
        return document


@dataclass(frozen=True)
class SpoeStore:
    """The directory of SPOE files, and how a commit plans, checks and writes these files."""

    context: CommitContext
    home: Directory
    # The directory for drafts and journals.
    storage: Path
    # The directory for failed and outdated transactions.
    transactions: Path
    filters: SpoeFilters
    outline: Outline
    # The reasons to reload if no filter reads the changed file; empty for no reload.
    reasons_if_unread: Sequence[Reason] = ()
    name: ClassVar[str] = "spoe"
    kind: ClassVar[str] = "spoe"

    @property
    def directory(self) -> Path:
        return self.home.path

    async def plan(self, context: Any, path: Path, content: Path | None) -> FilePlan:
        """Plan a reload if a filter reads the file, and the text of the file changes or has changed since the last reload.

        Otherwise, plan a reload for `reasons_if_unread`, if there are any.
        """

        def has_same_text() -> bool:
            if content is None or not path.exists():
                return False
            return without_versions(path.read_bytes()) == without_versions(content.read_bytes())

        is_loaded = await run_in_thread(has_same_text) and str(path) not in self.context.ledger.entries
        reasons = [] if is_loaded else self.reasons(path)
        return FilePlan((), reasons or self.reasons_if_unread, used=bool(self.filters.reading(self._running, path)))

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
        """Raise InUse if a filter reads the file, in `document` or in the configuration that the worker has loaded."""
        for each in (document, self._running):
            for filter_ in self.filters.reading(each, path):
                line = f"line {filter_.line(each)}: {filter_.text()}"
                raise InUse(f"rejecting attempt to delete file {path} referenced in haproxy conf at {line}")

    @property
    def _running(self) -> Document:
        """The configuration that the worker has loaded. While that is unknown, the current configuration."""
        return self.context.running.document or self.context.current.document

    def reasons(self, file: Path) -> list[Reason]:
        """Return one reason to reload for each filter of the loaded configuration that reads the file.

        If there is no such filter and a reload is pending, use the filters of the current configuration.
        """
        for document in (self._running, self.context.current.document) if self.context.pending else (self._running,):
            if filters := self.filters.reading(document, file):
                return [filter_.reason(document, file.name) for filter_ in filters]
        return []


# Returns the contents of a file before and after a change; None for no file.
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
        old, new = ((data or b"").decode("utf-8", "surrogateescape") for data in (before, after))
        touches = [self.touch]
        if await run_in_thread(has_new_expression, [old], [new]):
            touches.append(EXPRESSIONS)
        draft = None if after is None else await run_in_thread(self.store.draft, self.path, after)
        return Drafted({self.path: draft}, {self.path: self.store}, {self.path: before}, touches)

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
