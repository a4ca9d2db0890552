"""Change the entries of maps: in the process alone, in process and file (`sync`), or in the staged files of a transaction.

A change with `sync` writes the entries of the process to the file, and keeps the order and the comments of the file. If the process has not
read the current file yet, the change edits the entries of the file instead. File and process are changed under the commit's lock: both or
none. A change without `sync` lasts until the next reload. If `MapSync` runs, it writes such changes to the files at intervals.
"""

import asyncio
import errno
import logging
import os
import posixpath
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from haproxy_native.changes.file_operations import Drafted, FileOperation, FollowProcess, PutFile
from haproxy_native.commit.change import Change, MemberChange, Outcome, Reload, Validation
from haproxy_native.commit.commit import change_process, commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk.file import Draft
from haproxy_native.editing.file_references import path_of_name
from haproxy_native.editing.object_names import encoded, parsed, spelled
from haproxy_native.errors import (
    BadRequest,
    BadValue,
    Conflict,
    Exists,
    NativeError,
    NotFound,
    Place,
    RuntimeAbsent,
    RuntimeFailure,
    WriteFailed,
)
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.runtime import lists
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import (
    MapEntry,
    add_entry,
    clear_map,
    delete_entries,
    replace_map,
    set_entry,
)
from haproxy_native.storage import list_files
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.store import Store

log = logging.getLogger(__name__)
Item = TypeVar("Item")
EntriesEdit = Callable[[Sequence[Item]], list[Item]]


async def unchecked() -> None:
    """Check nothing, so that any change is accepted."""


@dataclass(frozen=True)
class LiveFile(ABC, Generic[Item]):
    """A file and the list that HAProxy has loaded from the file: the base class for maps and ACLs. `author` makes all changes.

    Changes raise RuntimeFailure, RefusedAtRuntime, NotFound, BadValue and WriteFailed.
    """

    context: CommitContext
    store: Store
    path: Path
    author: Author

    @property
    def name(self) -> str:
        return str(self.path)

    @abstractmethod
    async def entries(self) -> list[Item]:
        """Return the entries of the process, in their order."""

    @abstractmethod
    def parse(self, text: str) -> list[Item]:
        """Return the entries in a text of the file."""

    @abstractmethod
    def edited(self, text: str, entries: Sequence[Item]) -> str:
        """Return the text edited to have exactly these entries. Raises BadValue for an entry that does not fit in a line."""

    async def change(
        self,
        step: Step,
        edit: EntriesEdit[Item],
        *,
        whole: bool = False,
        check: Callable[[], Awaitable[None]] = unchecked,
        touched: Sequence[Touch] = (),
    ) -> Outcome:
        """Change the process by `step`, and the entries of the file by `edit`, which must have the same effect.

        `check` runs under the commit's lock. `whole`: all former entries are replaced. `touched`: the touches of single entries.
        """

        async def drafted() -> Drafted:
            await check()
            return await self.drafted([step], edit, whole=whole, touched=touched)

        return check_live(await self.commit(FollowProcess(f"{self.store.kind}/{self.path.name}", drafted)))

    async def commit(self, operation: FileOperation) -> Outcome:
        # If HAProxy refuses the change at runtime, the next reload loads it.
        return await commit(self.context, Change([operation], reload=Reload.LATER, validation=Validation.NEVER, author=self.author))

    async def drafted(
        self, steps: Sequence[Step], edit: EntriesEdit[Item], *, whole: bool = False, touched: Sequence[Touch] = ()
    ) -> Drafted:
        """Draft the new file, under the commit's lock.

        The draft has the entries of the process, edited by `edit`. If the process has not read the current file yet, the draft has the
        entries of the file, edited by `edit`.
        """
        is_unread = str(self.path) in self.context.ledger.entries and not whole
        before = None if is_unread else await self.entries()

        def draft() -> Draft:
            text = self.text()
            entries = edit(self.parse(text) if before is None else before)
            return self.store.draft(self.path, self.edited(text, entries).encode("utf-8", "surrogateescape"))

        drafts = {self.path: await asyncio.to_thread(draft)}
        partial = [] if whole else [self.path]
        return Drafted(drafts, {self.path: self.store}, touches=touched or None, steps={self.path: steps}, partial=partial)

    def text(self) -> str:
        """Return the text of the file. Raises NotFound and WriteFailed."""
        try:
            return self.store.content(self.path).decode("utf-8", "surrogateescape")
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EXDEV):
                raise NotFound(f"file {self.path.name} doesn't exist in dir: {self.path.parent}") from None
            raise WriteFailed(f"cannot read {self.path}: {error.strerror}") from error


def check_live(outcome: Outcome) -> Outcome:
    """Return the outcome of a change of file and process.

    Raises RuntimeAbsent if the process gets the change only by a reload, because the API's response cannot express that.
    """
    if not outcome.live:
        why = "; ".join(reason.why for reason in outcome.reasons)
        reload = f"reload {outcome.reload_id}" if outcome.reload_id else "the next reload"
        raise RuntimeAbsent(f"{why}{'; ' * bool(why)}the file has the change, and {reload} loads it", sent=True)
    return outcome


# The prefix of a map without a file.
VIRTUAL = "virt@"


@dataclass(frozen=True)
class LiveMap(LiveFile[MapEntry]):
    """A map that HAProxy has loaded. `author` makes all changes."""

    # HAProxy's name of the map, if it is not the path.
    loaded_as: str = ""
    # The path of a map outside the store, for which `sync` is refused with BadRequest.
    elsewhere: str = ""

    @property
    def name(self) -> str:
        return self.loaded_as or str(self.path)

    @property
    def object(self) -> str:
        """The map's object name for permissions and the history. For a map outside the store it contains the whole path."""
        return spelled("map", self.elsewhere or self.path.name)

    async def entries(self) -> list[MapEntry]:
        return await lists.read_map(self.context.runtime, self.name)

    def parse(self, text: str) -> list[MapEntry]:
        return list_files.parse_map(text)

    def edited(self, text: str, entries: Sequence[MapEntry]) -> str:
        return list_files.edit_map(text, entries)

    async def entry(self, key: str) -> MapEntry | None:
        return await lists.find_entry(self.context.runtime, self.name, key)

    async def add(self, key: str, value: str, *, sync: bool = False) -> Outcome:
        """Append an entry. Raises Exists for an existing key, and BadValue for an empty value, which only a file can have."""
        check_key(key)
        if not value:
            detail = f"the value of the map entry {key[:80]!r} must not be empty: the Runtime API cannot set an empty value"
            raise BadValue(detail, place=Place(member="value"))

        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            return [*before, MapEntry(key, value)]

        return await self._change(add_entry(self.name, key, value), edit, sync, self._touch(key, CREATE), value=value)

    async def set(self, key: str, value: str, *, sync: bool = False) -> Outcome:
        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            return [MapEntry(key, value) if entry.key == key else entry for entry in before]

        return await self._change(set_entry(self.name, key, value), edit, sync, self._touch(key, CHANGE), value=value)

    async def delete(self, key: str, *, sync: bool = False) -> Outcome:
        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            return [entry for entry in before if entry.key != key]

        return await self._change(delete_entries(self.name, key), edit, sync, self._touch(key, DELETE))

    async def fill(self, entries: Sequence[MapEntry], *, sync: bool = False) -> Outcome:
        """Replace all entries, in this order."""
        for entry in entries:
            lists.payload_line(entry)
            if sync:
                list_files.check_map_value(entry.value)
        return await self._change(replace_map(self.name, lambda: entries), lambda before: list(entries), sync)

    async def clear(self, *, sync: bool = False) -> Outcome:
        return await self._change(clear_map(self.name), lambda before: [], sync)

    async def remove(self) -> Outcome:
        """Clear the map and delete its file, even if the configuration refers to it. Raises Missing."""
        self._check_ours()
        self.store.check_there(self.path)
        check, steps = lambda: self.store.check_there(self.path), [clear_map(self.name)]
        return check_live(await self.commit(PutFile(self.store, self.path, check=check, steps=steps)))

    async def follow(self) -> bool:
        """Write the entries of the process to the file. Return whether the file has changed.

        Does nothing if HAProxy still has to load the file.
        """
        if str(self.path) in self.context.ledger.entries:
            return False
        entries = await self.entries()
        text = await asyncio.to_thread(self.text)
        if await asyncio.to_thread(self.edited, text, entries) == text:
            return False
        await self.commit(FollowProcess(self.object, lambda: self.drafted((), list)))
        return True

    def _touch(self, key: str, verb: str) -> Touch:
        return Touch(f"{self.object}/entry/{encoded(key)}", verb)

    async def _change(
        self, step: Step, edit: EntriesEdit[MapEntry], sync: bool, touched: Touch | None = None, *, value: str | None = None
    ) -> Outcome:
        """Change one entry by a step, or all entries if `touched` is None. `value`: the entry's new value, None for a deletion.

        Raises Exists if the step creates an entry whose key exists.
        """
        key = parsed(touched.object)[3] if touched else ""

        async def check() -> None:
            if touched and touched.verb == CREATE and await self.entry(key):
                raise Exists(f"{self.path.name} already has the key {key}")

        if sync:
            self._check_ours()
            list_files.check_map_value(value or "")
            return await self.change(step, edit, whole=touched is None, check=check, touched=[touched] if touched else ())

        async def apply() -> Sequence[MemberChange]:
            await check()
            if touched is None:
                await step.apply(self.context.runtime)
                return []
            old = None if touched.verb == CREATE else await self.entry(key)
            await step.apply(self.context.runtime)
            return [MemberChange(touched.object, "value", old.value if old else None, value)]

        return await change_process(self.context, self.object, apply, [touched] if touched else (), author=self.author)

    def _check_ours(self) -> None:
        """Raise BadRequest if the map's file is outside the store."""
        if self.elsewhere:
            raise BadRequest(f"the file of map {self.elsewhere} is not in maps_dir {self.store.directory}, so it cannot be changed")


@dataclass(frozen=True)
class StagedMap:
    """A map file in a transaction, with the methods of `LiveMap`. The methods ignore `sync`. `author` makes all changes.

    Changes raise Missing, NotFound, BadValue, Conflict and WriteFailed.
    """

    context: CommitContext
    # The store of the transaction (`Store.within`).
    store: MapStore
    path: Path
    author: Author

    async def entries(self) -> list[MapEntry]:
        return list_files.parse_map(await self._text())

    async def entry(self, key: str) -> MapEntry | None:
        return next((entry for entry in await self.entries() if entry.key == key), None)

    async def existing(self, key: str) -> MapEntry:
        """Return the first entry with a key. Raises NotFound."""
        return next(entry for entry in _require(await self.entries(), key) if entry.key == key)

    async def add(self, key: str, value: str, *, sync: bool = True) -> None:
        """Append an entry. Raises Exists."""
        check_key(key)
        list_files.check_map_value(value)

        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            if any(entry.key == key for entry in before):
                raise Exists(f"the map already has the key {key}")
            return [*before, MapEntry(key, value)]

        await self._change(edit)

    async def set(self, key: str, value: str, *, sync: bool = True) -> None:
        """Set the value of a key. Raises NotFound."""
        list_files.check_map_value(value)
        await self._change(lambda before: [MapEntry(key, value) if entry.key == key else entry for entry in _require(before, key)])

    async def delete(self, key: str, *, sync: bool = True) -> None:
        """Delete the entries of a key. Raises NotFound."""
        await self._change(lambda before: [entry for entry in _require(before, key) if entry.key != key])

    async def fill(self, entries: Sequence[MapEntry], *, sync: bool = True) -> None:
        """Replace all entries, in this order."""
        for entry in entries:
            lists.payload_line(entry)
            list_files.check_map_value(entry.value)
        await self._change(lambda before: list(entries))

    async def clear(self, *, sync: bool = True) -> None:
        await self._change(lambda before: [])

    async def remove(self) -> None:
        """Delete the file."""
        await self.store.delete(self.context, self.path.name, self.author)

    async def _text(self) -> str:
        try:
            return (await asyncio.to_thread(self.store.content, self.path)).decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            raise self.store.not_there(self.path) from None
        except OSError as error:
            raise WriteFailed(f"cannot read {self.path}: {error.strerror}") from error

    async def _change(self, edit: EntriesEdit[MapEntry]) -> None:
        text = await self._text()
        data = list_files.edit_map(text, edit(list_files.parse_map(text))).encode("utf-8", "surrogateescape")
        upload = self.store.upload_existing(self.path.name, self.author)
        check = upload.check

        def unchanged() -> None:
            check()
            if self.store.content(self.path).decode("utf-8", "surrogateescape") != text:
                raise Conflict(f"{self.path.name} was changed by another call at the same time; send the entry again")

        upload.check = unchanged
        try:
            await upload.append(data)
            await upload.commit(self.context)
        finally:
            upload.discard()


def _require(entries: Sequence[MapEntry], key: str) -> Sequence[MapEntry]:
    if not any(entry.key == key for entry in entries):
        raise NotFound(f"{key} not found")
    return entries


async def find_map(context: CommitContext, store: MapStore, name: str, author: Author) -> LiveMap:
    """Return the map that a client names by its file in the store, or by the number or path that HAProxy prints.

    If HAProxy has not loaded the map, return a map for the file of that name in the store. The file need not exist. Raises RuntimeFailure,
    and NotFound for a malformed name.
    """
    own: Path | None = None
    with suppress(NotFound):
        own = store.path_of(name)
    loaded = [(map_, store.file_loaded_as(context, map_.name)) for map_ in await lists.list_maps(context.runtime)]
    for map_, path in loaded:
        if path and path in (own, store.file_at(name)):
            return LiveMap(context, store, path, author, map_.name)
    if own is None or not await asyncio.to_thread(os.path.lexists, own):
        document = context.running.document or context.current.document
        stored_name = store.resolved(name)
        for map_, path in loaded:
            loaded_from = posixpath.normpath(path_of_name(document, context.base(document), map_.name))
            # HAProxy prints -1 for every map without a number.
            identities = [map_.name, *([map_.id] if map_.id.isdecimal() else [])]
            if name == loaded_from or stored_name in map(store.resolved, identities):
                elsewhere = "" if path else map_.name if map_.name.startswith(VIRTUAL) else loaded_from
                return LiveMap(context, store, path or Path(map_.name), author, map_.name, elsewhere)
    return LiveMap(context, store, own or store.path_of(name), author)


def check_key(key: str) -> None:
    """Raise BadValue for an empty key, or a key with a blank, which HAProxy accepts but prints as part of the value."""
    if not key:
        raise BadValue("the key of a map entry must not be empty", place=Place(member="key"))
    if any(sign in key for sign in " \t\r\n\0"):
        raise BadValue(f"the key of a map must not contain blanks: {key!r}", place=Place(member="key"))


_SYNC_AUTHOR = Author("map_sync")


class MapSync:
    """Writes the maps in HAProxy's memory to their files in the store at intervals.

    If another process has edited a file since the worker read it, the file is newer than the map and is not overwritten.
    """

    def __init__(self, context: CommitContext, store: MapStore, seconds: float) -> None:
        self._context, self._store, self._seconds = context, store, seconds
        self._warned: dict[str, str] = {}

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            try:
                await self.once()
            except RuntimeFailure as error:
                self._warn_once("", f"writing maps to their files failed: {error}")
            except Exception:
                log.exception("writing maps to their files failed")

    async def once(self) -> list[str]:
        """Write the files of all maps that have changed, and return their paths. Raises RuntimeFailure."""
        worker = await self._context.runtime.worker()
        written = []
        for path, map_ in (await self._store.all_loaded(self._context)).items():
            if str(path) in self._context.ledger.entries:
                continue
            try:
                if not self._context.ledger.is_known(path, worker):
                    self._warn_once(str(path), f"{path} is newer than the map that HAProxy has loaded, so it is not overwritten")
                    continue
                if await LiveMap(self._context, self._store, path, _SYNC_AUTHOR, map_.name).follow():
                    written.append(str(path))
                self._warned.pop(str(path), None)
            except RuntimeFailure:
                raise
            except NativeError as error:
                self._warn_once(str(path), f"writing the map {path} to its file failed: {error}")
        return written

    def _warn_once(self, about: str, text: str) -> None:
        """Log a text, unless the last log line about the same file was equal."""
        if self._warned.get(about) != text:
            self._warned[about] = text
            log.warning("%s", text)
