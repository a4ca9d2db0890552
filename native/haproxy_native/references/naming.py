"""`Naming`: the places that name an object, and one commit that gives it another name in all of them."""

import asyncio
import os
import posixpath
from collections.abc import Sequence
from contextlib import AbstractAsyncContextManager, AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar, Protocol

from haproxy_native.beside import beside
from haproxy_native.changes.expect import ANY, Version
from haproxy_native.changes.file_operations import EditFiles
from haproxy_native.changes.operations import PutDocument
from haproxy_native.commit.bases import on_its_base
from haproxy_native.commit.change import Change, Outcome, Reload
from haproxy_native.commit.commit import commit, to_the_end
from haproxy_native.commit.preview import Preview
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Conflict, NotFound, Stale, StaleRenaming
from haproxy_native.references import files
from haproxy_native.references.files import StoredFile
from haproxy_native.references.found import References, check_name, entries_by_path, entries_naming, renamed, to_file, to_object
from haproxy_native.references.lines import target
from haproxy_native.references.lookups import MAP, Lost
from haproxy_native.references.rows import Row, Rows
from haproxy_native.request_context import Author
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document

CRT_LISTS = "ssl_crt_lists"
# Bytes of a file that is looked through.
LARGEST = 1 << 26


class Follower(Protocol):
    """Keeps something of objects by their names, beside the configuration."""

    def kept(self, object_: str) -> list[str]:
        """What it keeps of an object and of what stands in it, by name. Raises Conflict where it would bring back the former name."""

    def renamed(self, object_: str, to: str, author: Author) -> AbstractAsyncContextManager[None]:
        """Around the commit: what it keeps is of both names within, and of the new one afterwards; of the former where the body raises.

        Raises Unusable.
        """


@dataclass(frozen=True)
class Named:
    """The places that name an object, and what may name it and cannot be followed."""

    places: Sequence[Row]
    lost: Sequence[Row]


@dataclass(frozen=True)
class Rename:
    """Gives an object another name, `to`, wherever a configuration names it. `stored`: the files that change with it."""

    naming: "Naming"
    object: str
    to: str
    stored: frozenset[str]
    is_whole: ClassVar[bool] = False

    def apply(self, document: Document) -> Document:
        """Raises Conflict where other files have come to name it."""
        found_places = self.naming.found(document, self.object)
        here = {posixpath.basename(path) for path in entries_by_path(found_places) if self.naming.store_of(path)}
        if here - {posixpath.basename(path) for path in self.stored}:
            raise Conflict(f"other files have come to name {self.object} meanwhile; repeat the call")
        return renamed(found_places, self.to)


@dataclass(frozen=True)
class Renaming:
    """An object with another name: `to` is the whole name, `places` those that change or lead to it, the object's own among them.

    `carried`: what is kept of it beside the configuration, and goes with it.
    """

    object: str
    to: str
    places: Sequence[Row]
    lost: Sequence[Row]
    carried: Sequence[str]
    change: Change
    transaction_id: str | None = None

    @property
    def name(self) -> str:
        """The new name alone."""
        return parsed(self.to)[-1]


class Naming:
    """References and renaming of one engine."""

    def __init__(self, engine: Engine, followers: Sequence[Follower] = ()) -> None:
        self._engine, self._followers = engine, followers

    async def references(self, object_: str, document: Document) -> Named:
        """Raises BadRequest and NotFound."""
        found_places = await beside(self.found, document, object_)
        rows = self._rows(document)
        return Named(await beside(rows.places, found_places), rows.lost(found_places.lost))

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
        """The change that renames it in a document, which is that of the transaction or the current one, or is left by calls of a batch.

        `alone`: it is not one of several calls. `member`: what the request calls the name. Raises BadRequest, BadValue, Conflict, Exists,
        NotFound and Unusable.
        """
        stored = await asyncio.to_thread(self._stored_file, object_)
        if stored:
            await asyncio.to_thread(files.check_name, stored, to)
        else:
            check_name(document, await beside(target, document, object_), to, member)
        found_places = await beside(self.found, document, object_)
        edits, left = await asyncio.to_thread(self._file_edits, found_places, stored, object_, to)
        carried = [follower_line for follower in self._followers for follower_line in follower.kept(object_)]
        if (transaction_id or not alone) and (edits or carried):
            names = ", ".join([*sorted(path.name for path in (edits.files if edits else ())), *carried])
            within, remedy = ("transaction", "without transaction_id") if transaction_id else ("batch", "by a call of its own")
            raise BadRequest(f"{names} would change with it, and in a {within} a renaming changes text alone: rename {remedy}")
        rename = Rename(self, object_, to, frozenset(map(str, edits.files) if edits else ()))
        rows = self._rows(document)
        places = await beside(rows.places, found_places, made=True)
        change = Change([rename, *([edits] if edits else [])], Version(version) if version else ANY, author=author)
        return Renaming(object_, _other_name(object_, to), places, rows.lost([*found_places.lost, *left]), carried, change, transaction_id)

    async def plan(self, renaming: Renaming) -> Preview:
        """What it would do, without doing it."""
        change = renaming.change
        if renaming.transaction_id:
            put = PutDocument(await beside(change.apply, self._engine.read(renaming.transaction_id)))
            change = Change([put], author=change.author)
        return await self._engine.plan(change)

    async def rename(self, renaming: Renaming, reload: Reload = Reload.AUTO) -> Outcome:
        """One commit, or an edit of the transaction. Raises what they raise."""
        change = renaming.change
        if renaming.transaction_id:
            id_ = renaming.transaction_id
            return await self._engine.write(change.edits, author=change.author, transaction_id=id_, reload=reload)
        change = await on_its_base(self._engine.context, replace(change, reload=reload))
        return await to_the_end(self._engine.context, self._followed(renaming, change))

    async def _followed(self, renaming: Renaming, change: Change) -> Outcome:
        async with AsyncExitStack() as stack:
            for follower in self._followers:
                await stack.enter_async_context(follower.renamed(renaming.object, renaming.to, change.author))
            return await self._committed(change)

    async def _committed(self, change: Change) -> Outcome:
        try:
            return await commit(self._engine.context, change)
        except Stale as error:
            raise StaleRenaming(error.detail, current=error.current) from None

    # -- what is found

    def found(self, document: Document, object_: str) -> References:
        """The places of a document that name an object, and those of the files that it reads. Raises NotFound."""
        stored = self._stored_file(object_)
        if stored is None:
            return to_object(document, target(document, object_), self._directory, _Texts().read)
        found_places = to_file(document, str(stored.path), self._directory)
        return replace(found_places, entries=files.listing(stored, document, self._directory))

    def _stored_file(self, object_: str) -> StoredFile | None:
        """Returns a stored file; None if the object is no kind of stored file. Raises NotFound."""
        parts = parsed(object_)
        store = next((store for store in self._engine.stores.values() if store.kind == parts[0]), None)
        if store is None or len(parts) != 2:
            return None
        paths = [path for path in store.files() if path.name == parts[1]]
        if not paths:
            raise NotFound(f"{object_[:100]} does not exist{files.nearest(store, parts[1])}")
        return StoredFile(store, paths[0])

    @property
    def _directory(self) -> str:
        return os.path.abspath(self._engine.context.current.path.parent)

    def _rows(self, document: Document) -> Rows:
        return Rows(document, str(self._engine.context.current.path), self._object_of)

    def _object_of(self, path: str) -> str:
        store = self.store_of(path)
        return spelled(store.kind, posixpath.basename(path)) if store else ""

    def store_of(self, path: str) -> Store | None:
        """Return the store of a map or a list; a list may have any name beside the certificates."""
        lists = self._engine.stores.get(CRT_LISTS)
        return self._engine.stores.of(Path(path)) or (lists if lists and lists.at(path) else None)

    # -- what changes

    def _file_edits(self, found: References, stored: StoredFile | None, object_: str, to: str) -> tuple[EditFiles | None, list[Lost]]:
        """The stored files that change, and the places in others."""
        if stored:
            return files.moved(stored, to, [Path(path) for path in entries_by_path(found)]), []
        stores, left = dict[Path, Store](), list[Lost]()
        for path, entries in entries_by_path(found).items():
            if store := self.store_of(path):
                stores[store.directory / Path(path).name] = store
            else:
                left += [
                    Lost(f"the {entry.how or MAP} is no stored file", path=path, line=entry.line, text=entry.text) for entry in entries
                ]
        find = entries_naming(found.document, target(found.document, object_)) if stores else None
        return files.renamed(stores, find, parsed(object_)[-1], to) if find else None, left


def _other_name(object_: str, to: str) -> str:
    return spelled(*parsed(object_)[:-1], to)


class _Texts:
    """Contents of files beside the configuration, each read once."""

    def __init__(self) -> None:
        self._known: dict[str, str | None] = {}

    def read(self, path: str) -> str | None:
        """Reads a text; None if it is no file, is unreadable, or is too large."""
        if path not in self._known:
            self._known[path] = self._read(Path(path))
        return self._known[path]

    def _read(self, path: Path) -> str | None:
        try:
            if not path.is_file() or path.stat().st_size > LARGEST:
                return None
            return path.read_bytes().decode("utf-8", "surrogateescape")
        except OSError:
            return None
