"""Find all references to an object for a client, and rename the object in all of them by one commit (`Naming`)."""

import asyncio
import os
import posixpath
from collections.abc import Callable, Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Protocol

from haproxy_native.changes.expect import ANY, Version
from haproxy_native.changes.file_operations import EditFiles
from haproxy_native.changes.operations import PutDocument
from haproxy_native.commit.change import Change, Outcome, Reload
from haproxy_native.commit.commit import commit, run_to_the_end
from haproxy_native.commit.preparation import with_base
from haproxy_native.commit.preview import Preview
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Conflict, NotFound, Stale, StaleRenaming
from haproxy_native.references import files
from haproxy_native.references.files import StoredFile
from haproxy_native.references.lines import Spot, find_target
from haproxy_native.references.lookups import MAP, Lost
from haproxy_native.references.object_references import (
    References,
    check_name,
    entries_by_path,
    entries_naming,
    object_of,
    references_to_file,
    references_to_object,
    rename_object,
)
from haproxy_native.request_context import Author
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document
from haproxy_native.text.parts import first_lines
from haproxy_native.threads import run_in_thread

CRT_LISTS = "ssl_crt_lists"
# Files of more bytes are not searched.
LARGEST = 1 << 26
VALUE = "map value"
# Returns the object name of a stored file, given its path; empty for any other file.
ObjectOf = Callable[[str], str]


@dataclass(frozen=True)
class ReferenceRow:
    """A reference in the form that clients get."""

    # The object that contains the reference: a section or a stored file.
    object: str
    file: str
    # The line in its file, from 1.
    line: int
    section: str = ""
    # The line's text.
    text: str = ""
    # The form of the reference, such as "line" or "argument".
    how: str = ""
    # For a line that may contain a reference: why the reference cannot be traced.
    why: str = ""


class ReferenceFormatter:
    """Converts references in a document to rows. `main` is the path of the document's main file."""

    def __init__(self, document: Document, main: str, stored: ObjectOf) -> None:
        self._document, self._main, self._stored = document, main, stored
        self._first = first_lines(document)

    def format_references(self, references: References, *, with_definitions: bool = False) -> list[ReferenceRow]:
        """Return a row for each reference: first the references in the configuration, in the order of the text, and then those in files.

        `with_definitions`: also return rows for the lines that define the object.
        """
        spots: list[Spot] = sorted(
            {*(references.definitions if with_definitions else ()), *references.spots, *references.through},
            key=lambda row: (row.section_index, row.line),
        )
        rows = dict.fromkeys(self._row_of_line(spot.section_index, spot.line, how=spot.how) for spot in spots)
        return [*rows, *(self._row_of_file(entry.path, entry.line, entry.text, how=entry.how or VALUE) for entry in references.entries)]

    def format_lost(self, lost: Sequence[Lost]) -> list[ReferenceRow]:
        return [
            self._row_of_file(each.path, each.line, each.text, why=each.why)
            if each.path and each.line and each.section_index < 0
            else self._row_of_line(each.section_index, each.line, why=each.why)
            for each in lost
        ]

    def _row_of_line(self, section_index: int, line: int, how: str = "", why: str = "") -> ReferenceRow:
        section = self._document.sections[section_index]
        title, text = f"{section.kind} {section.name}".rstrip(), section.lines[line].text.strip()
        return ReferenceRow(
            object_of(self._document, section_index), section.file or self._main, self._first[section_index] + line, title, text, how, why
        )

    def _row_of_file(self, path: str, line: int, text: str, how: str = "", why: str = "") -> ReferenceRow:
        """Return the row for a line in a file other than the configuration. The row has the text only if the file is a stored file."""
        object_ = self._stored(path)
        return ReferenceRow(object_ or "file", path, line, "", text if object_ else "", how, why)


class RenameFollower(Protocol):
    """A part of the server that stores data under the names of objects, such as owners or overrides."""

    def list_stored_names(self, object_: str) -> list[str]:
        """Return the names of the data stored for an object and for objects inside it.

        Raises Conflict if a renaming is impossible because the stored data would restore the old name.
        """

    def follow_rename(self, object_: str, to: str, author: Author) -> AbstractAsyncContextManager[None]:
        """Return the context manager for the commit of a renaming.

        Within the context, the stored data applies to both names. Afterwards, it applies to the new name; if the commit failed, to the old
        name. Entering the context raises Unusable if the data cannot be stored.
        """


@dataclass(frozen=True)
class ReferenceRows:
    """All references to an object, in the form that clients get."""

    places: Sequence[ReferenceRow]
    # Places that may refer to the object, but cannot be traced.
    lost: Sequence[ReferenceRow]


@dataclass(frozen=True)
class Rename:
    """The operation that renames an object in a configuration."""

    naming: "Naming"
    object: str
    to: str
    # The paths of stored files that the same change renames or edits.
    stored: frozenset[str]
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        """Return the document after renaming the object. Raises Conflict if a stored file that is not in `stored` refers to the object."""
        references = self.naming.find_references(document, self.object)
        referring = {posixpath.basename(path) for path in entries_by_path(references) if self.naming.store_of(path)}
        if referring - {posixpath.basename(path) for path in self.stored}:
            raise Conflict(f"other files now refer to {self.object}; repeat the call")
        return rename_object(references, self.to)


@dataclass(frozen=True)
class Renaming:
    """A prepared renaming, which `Naming.rename` commits."""

    object: str
    # The new object name with kinds, as in backend/new.
    to: str
    # The references to the object, and the lines that define it.
    places: Sequence[ReferenceRow]
    lost: Sequence[ReferenceRow]
    # The names of data that followers store for the object, and that the renaming moves to the new name.
    carried: Sequence[str]
    change: Change
    transaction_id: str | None = None

    @property
    def name(self) -> str:
        """Return the new name alone: the last part of `to`."""
        return parsed(self.to)[-1]


class Naming:
    """Finds references to objects and renames objects, in the configuration of one engine."""

    def __init__(self, engine: Engine, followers: Sequence[RenameFollower] = ()) -> None:
        self._engine, self._followers = engine, followers

    async def references(self, object_: str, document: Document) -> ReferenceRows:
        """Return the references to an object. Raises NotFound, and BadRequest if its kind has no references."""
        references = await run_in_thread(self.find_references, document, object_)
        formatter = self._formatter(document)
        return ReferenceRows(await run_in_thread(formatter.format_references, references), formatter.format_lost(references.lost))

    async def renaming(
        self,
        object_: str,
        to: str,
        document: Document,
        *,
        author: Author,
        version: int | None = None,
        transaction_id: str | None = None,
        alone: bool = True,
        member: str = "to",
    ) -> Renaming:
        """Prepare the renaming of an object, and change nothing yet.

        `document`: the current document, or the document of the transaction or the batch that the renaming is part of. `alone`: False if
        the renaming is part of a batch. `member`: the member of the request that contains the new name, for errors. Raises BadRequest,
        BadValue, Conflict, Exists, NotFound and Unusable.
        """
        stored = await asyncio.to_thread(self._stored_file, object_)
        if stored:
            await asyncio.to_thread(files.check_name, stored, to)
        else:
            check_name(document, await run_in_thread(find_target, document, object_), to, member)
        references = await run_in_thread(self.find_references, document, object_)
        edits, lost = await asyncio.to_thread(self._file_edits, references, stored, object_, to)
        carried = [name for follower in self._followers for name in follower.list_stored_names(object_)]
        if (transaction_id or not alone) and (edits or carried):
            names = ", ".join([*sorted(path.name for path in (edits.files if edits else ())), *carried])
            within = "transaction" if transaction_id else "batch"
            raise BadRequest(
                f"the renaming also changes {names}, but in a {within} it can change only the configuration; rename outside the {within}"
            )
        rename = Rename(self, object_, to, frozenset(map(str, edits.files) if edits else ()))
        formatter = self._formatter(document)
        places = await run_in_thread(formatter.format_references, references, with_definitions=True)
        change = Change([rename, *([edits] if edits else [])], Version(version) if version else ANY, author=author)
        whole_name = spelled(*parsed(object_)[:-1], to)
        return Renaming(object_, whole_name, places, formatter.format_lost([*references.lost, *lost]), carried, change, transaction_id)

    async def plan(self, renaming: Renaming) -> Preview:
        """Return the preview of a renaming: what its commit would do."""
        change = renaming.change
        if renaming.transaction_id:
            put = PutDocument(await run_in_thread(change.apply, self._engine.read(renaming.transaction_id)))
            change = Change([put], author=change.author)
        return await self._engine.plan(change)

    async def rename(self, renaming: Renaming, reload: Reload = Reload.AUTO) -> Outcome:
        """Commit a renaming, or add it to its transaction. Raises the errors of a commit or of a transaction."""
        change = renaming.change
        if renaming.transaction_id:
            id_ = renaming.transaction_id
            return await self._engine.write(change.edits, author=change.author, transaction_id=id_, reload=reload)
        change = await with_base(self._engine.context, replace(change, reload=reload))

        async def commit_with_followers() -> Outcome:
            async with AsyncExitStack() as stack:
                for follower in self._followers:
                    await stack.enter_async_context(follower.follow_rename(renaming.object, renaming.to, change.author))
                try:
                    return await commit(self._engine.context, change)
                except Stale as error:
                    raise StaleRenaming(error.detail, current=error.current) from None

        return await run_to_the_end(self._engine.context, commit_with_followers())

    # -- finding

    def find_references(self, document: Document, object_: str) -> References:
        """Return the references to an object in a document, and in the files that HAProxy reads with the document. Raises NotFound."""
        stored = self._stored_file(object_)
        if stored is None:
            return references_to_object(document, find_target(document, object_), self._directory(document), _Texts().read)
        references = references_to_file(document, str(stored.path), self._directory(document))
        return replace(references, entries=files.crt_list_entries(stored, document, self._directory(document)))

    def _stored_file(self, object_: str) -> StoredFile | None:
        """Return the stored file with this object name; None if the object is not a stored file. Raises NotFound."""
        parts = parsed(object_)
        store = next((store for store in self._engine.stores.values() if store.kind == parts[0]), None)
        if store is None or len(parts) != 2:
            return None
        paths = [path for path in store.files() if path.name == parts[1]]
        if not paths:
            raise NotFound(f"{object_[:100]} does not exist{files.suggestion(store, parts[1])}")
        return StoredFile(store, paths[0])

    def _directory(self, document: Document) -> str:
        return os.path.abspath(self._engine.context.base(document))

    def _formatter(self, document: Document) -> ReferenceFormatter:
        def object_of_file(path: str) -> str:
            store = self.store_of(path)
            return spelled(store.kind, posixpath.basename(path)) if store else ""

        return ReferenceFormatter(document, str(self._engine.context.current.path), object_of_file)

    def store_of(self, path: str) -> Store | None:
        """Return the store of a stored file; None for any other file. Each file in the directory of crt-lists counts as a crt-list."""
        lists = self._engine.stores.get(CRT_LISTS)
        return self._engine.stores.find_store(Path(path)) or (lists if lists and lists.file_at(path) else None)

    # -- files

    def _file_edits(self, references: References, stored: StoredFile | None, object_: str, to: str) -> tuple[EditFiles | None, list[Lost]]:
        """Return (edits of stored files, references in files that cannot be edited). The edits are None if no stored file has to change."""
        if stored:
            return files.edits_to_move(stored, to, [Path(path) for path in entries_by_path(references)]), []
        stores, lost = dict[Path, Store](), list[Lost]()
        for path, entries in entries_by_path(references).items():
            if store := self.store_of(path):
                stores[store.directory / Path(path).name] = store
            else:
                lost += [
                    Lost(f"the {entry.how or MAP} is not a stored file", path=path, line=entry.line, text=entry.text) for entry in entries
                ]
        find = entries_naming(references.document, find_target(references.document, object_)) if stores else None
        return files.edits_to_rename(stores, find, parsed(object_)[-1], to) if find else None, lost


class _Texts:
    """Reads files other than the configuration, each file only once."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

    def read(self, path: str) -> str | None:
        """Return the text of a file; None if it is not a regular file, cannot be read, or is too large. Blocks."""
        if path not in self._known:
            self._known[path] = None
            with suppress(OSError):
                if (file := Path(path)).is_file() and file.stat().st_size <= LARGEST:
                    self._known[path] = file.read_bytes().decode("utf-8", "surrogateescape")
        return self._known[path]
