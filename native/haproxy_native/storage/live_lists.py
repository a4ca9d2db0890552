"""Change the entries of maps and ACLs: in the process alone, in process and file (`sync`), or in the staged files of a transaction.

A change with `sync` writes the entries of the process to the file, and keeps the order and the comments of the file. If the process has not
read the current file yet, the change edits the entries of the file instead. File and process are changed under the commit's lock: both or
none. A change without `sync` lasts until the next reload. If `MapSync` runs, it writes such changes to the files at intervals.
"""

import asyncio
import logging
import os
import posixpath
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
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
from haproxy_native.editing.object_names import encoded, spelled
from haproxy_native.errors import BadRequest, BadValue, Exists, NativeError, NotFound, Place, RuntimeAbsent, RuntimeFailure, RuntimeRefused
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.runtime import lists
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import LoadedAcl, MapEntry
from haproxy_native.storage import list_files
from haproxy_native.storage.list_store import MAPS, PATTERNS, ListFormat, MapStore
from haproxy_native.storage.store import Store

log = logging.getLogger(__name__)
Item = TypeVar("Item")
EntriesEdit = Callable[[Sequence[Item]], Sequence[Item]]
# Raises an error to refuse a change, or returns the members that the change sets, for the history.
Check = Callable[[], Awaitable[Sequence[MemberChange]]]


async def accept() -> Sequence[MemberChange]:
    """Accept any change."""
    return ()


@dataclass(frozen=True)
class LiveList(ABC, Generic[Item]):
    """A list that HAProxy has loaded, or its staged file: the base class for maps and ACLs. `author` makes all changes.

    If `store` is the store of a transaction or a batch, calls read and change its staged file; `sync` is then ignored.

    Changes raise RuntimeFailure. With `sync` they also raise RefusedAtRuntime, Missing, BadValue and WriteFailed. They raise BadRequest if
    the list has no file that can be changed.
    """

    context: CommitContext
    # The name of the list in HAProxy.
    name: str
    # The name of the list for permissions and the history.
    object: str
    author: Author
    # The store of its file; None if it has no file there.
    store: Store | None
    path: Path
    # Why its file cannot be changed; empty if it can.
    obstacle: str = ""

    @property
    @abstractmethod
    def format(self) -> ListFormat[Item]:
        """The format of its entries."""

    @property
    def is_staged(self) -> bool:
        return self.store is not None and self.store.staging is not None

    async def entries(self) -> Sequence[Item]:
        """Return the entries in their order."""
        if self.is_staged:
            return self.format.parse(await self._text())
        return await self.format.read(self.context.runtime, self.name)

    def touch(self, entry: str, verb: str) -> Touch:
        """Return the touch of an entry, which is named by its key or, in an ACL, by its pattern or reference."""
        return Touch(f"{self.object}/entry/{encoded(entry)}", verb)

    async def change(
        self, step: Step, edit: EntriesEdit[Item], *, sync: bool, touched: Touch | None = None, check: Check = accept
    ) -> Outcome:
        """Change one entry, or all entries if `touched` is None: the process by `step`, the entries of the file by `edit`.

        Both must have the same effect. `check` runs under the commit's lock, before the change.
        """
        touches = [touched] if touched else []
        if self.is_staged:
            store, text = self._require_store(), await self._text()
            edited = self.format.edit(text, edit(self.format.parse(text)))
            return await store.replace_text(self.context, store.upload_existing(self.path.name, self.author), text, edited)
        if sync:
            if self.obstacle:
                # Raises HAProxy's refusal for a list that it has not loaded.
                await self.entries()
            store = self._require_store()

            async def drafted() -> Drafted:
                await check()
                return await self.drafted([step], edit, touches, whole=touched is None)

            return check_live(await self.commit(FollowProcess(f"{store.kind}/{self.path.name}", drafted)))

        async def apply() -> Sequence[MemberChange]:
            members = await check()
            await step.apply(self.context.runtime)
            return members

        return await change_process(self.context, self.object, apply, touches, author=self.author)

    async def commit(self, operation: FileOperation) -> Outcome:
        # If HAProxy refuses the change at runtime, the next reload loads it.
        return await commit(self.context, Change([operation], reload=Reload.LATER, validation=Validation.NEVER, author=self.author))

    async def drafted(
        self, steps: Sequence[Step], edit: EntriesEdit[Item], touches: Sequence[Touch] = (), *, whole: bool = False
    ) -> Drafted:
        """Draft the new file, under the commit's lock. `whole`: all former entries are replaced.

        The draft has the entries of the process, edited by `edit`. If the process has not read the current file yet, the draft has the
        entries of the file, edited by `edit`.
        """
        store, is_unread = self._require_store(), str(self.path) in self.context.ledger.entries and not whole
        before = None if is_unread else await self.entries()

        def draft() -> Draft:
            text = store.text(self.path)
            entries = edit(self.format.parse(text) if before is None else before)
            return store.draft(self.path, self.format.edit(text, entries).encode("utf-8", "surrogateescape"))

        drafts = {self.path: await asyncio.to_thread(draft)}
        partial = [] if whole else [self.path]
        return Drafted(drafts, {self.path: store}, touches=touches or None, steps={self.path: steps}, partial=partial)

    def _require_store(self) -> Store:
        """Return the store of the file. Raises BadRequest if the file cannot be changed."""
        if self.store is None or self.obstacle:
            raise BadRequest(self.obstacle)
        return self.store

    async def _text(self) -> str:
        return await asyncio.to_thread(self._require_store().text, self.path)


def check_live(outcome: Outcome) -> Outcome:
    """Return the outcome of a change of file and process.

    Raises RuntimeAbsent if the process gets the change only by a reload, because the API's response cannot express that.
    """
    if not outcome.live:
        why = "; ".join(reason.why for reason in outcome.reasons)
        reload = f"reload {outcome.reload_id}" if outcome.reload_id else "the next reload"
        raise RuntimeAbsent(f"{why}{'; ' * bool(why)}the file has the change, and {reload} loads it", sent=True)
    return outcome


@dataclass(frozen=True)
class LiveMap(LiveList[MapEntry]):
    @property
    def format(self) -> ListFormat[MapEntry]:
        return MAPS

    async def entry(self, key: str) -> MapEntry | None:
        """Return the first entry with exactly this key."""
        if self.is_staged:
            return next((entry for entry in await self.entries() if entry.key == key), None)
        return await lists.find_entry(self.context.runtime, self.name, key)

    async def add(self, key: str, value: str, *, sync: bool = False) -> Outcome:
        """Append an entry. Raises Exists for an existing key, and BadValue for an empty value, which only a file can have."""
        check_key(key)
        if not value and not self.is_staged:
            detail = f"the value of the map entry {key[:80]!r} must not be empty: the Runtime API cannot set an empty value"
            raise BadValue(detail, place=Place(member="value"))

        def edit(before: Sequence[MapEntry]) -> Sequence[MapEntry]:
            return [*before, MapEntry(key, value)]

        return await self._change_entry(key, CREATE, value, lambda: lists.add_entry(self.name, key, value), edit, sync=sync)

    async def set(self, key: str, value: str, *, sync: bool = False) -> Outcome:
        """Set the value of all entries with a key. Raises NotFound for a missing key of a staged file."""

        def edit(before: Sequence[MapEntry]) -> Sequence[MapEntry]:
            return [MapEntry(key, value) if entry.key == key else entry for entry in before]

        return await self._change_entry(key, CHANGE, value, lambda: lists.set_entry(self.name, key, value), edit, sync=sync)

    async def delete(self, key: str, *, sync: bool = False) -> Outcome:
        """Delete all entries with a key. Raises NotFound for a missing key of a staged file."""

        def edit(before: Sequence[MapEntry]) -> Sequence[MapEntry]:
            return [entry for entry in before if entry.key != key]

        return await self._change_entry(key, DELETE, None, lambda: lists.delete_entries(self.name, key), edit, sync=sync)

    async def fill(self, entries: Sequence[MapEntry], *, sync: bool = False) -> Outcome:
        """Replace all entries, in this order."""
        for entry in entries:
            lists.payload_line(entry)
            if sync or self.is_staged:
                list_files.check_map_value(entry.value)
        return await self.change(lists.replace_map(self.name, lambda: entries), lambda before: entries, sync=sync)

    async def clear(self, *, sync: bool = False) -> Outcome:
        return await self.change(lists.clear_map(self.name), lambda before: [], sync=sync)

    async def remove(self) -> Outcome:
        """Clear the map and delete its file, even if the configuration refers to it. Raises Missing."""
        store = self._require_store()
        if self.is_staged:
            return await store.delete(self.context, self.path.name, self.author)
        delete = PutFile(store, self.path, check=lambda: store.check_there(self.path), steps=[lists.clear_map(self.name)])
        return check_live(await self.commit(delete))

    async def follow(self) -> bool:
        """Write the entries of the process to the file. Return whether the file has changed.

        Does nothing if HAProxy still has to load the file.
        """
        if str(self.path) in self.context.ledger.entries:
            return False
        entries = await self.entries()
        text = await self._text()
        if await asyncio.to_thread(self.format.edit, text, entries) == text:
            return False
        await self.commit(FollowProcess(self.object, lambda: self.drafted((), list)))
        return True

    async def _change_entry(
        self, key: str, verb: str, value: str | None, step: Callable[[], Step], edit: EntriesEdit[MapEntry], *, sync: bool
    ) -> Outcome:
        """Change the entries of a key. `value`: the new value; None for a deletion."""
        if sync or self.is_staged:
            list_files.check_map_value(value or "")
        touched = self.touch(key, verb)

        async def check() -> Sequence[MemberChange]:
            # With `sync` the history compares the contents of the file instead.
            old = await self.entry(key) if verb == CREATE or not sync else None
            if verb == CREATE and old:
                raise Exists(f"the map already has the key {key}")
            return [MemberChange(touched.object, "value", old.value if old else None, value)]

        def edit_staged(before: Sequence[MapEntry]) -> Sequence[MapEntry]:
            is_there = any(entry.key == key for entry in before)
            if is_there and verb == CREATE:
                raise Exists(f"the map already has the key {key}")
            if not is_there and verb != CREATE:
                raise NotFound(f"{key} not found")
            return edit(before)

        return await self.change(step(), edit_staged if self.is_staged else edit, sync=sync, touched=touched, check=check)


@dataclass(frozen=True)
class LiveAcl(LiveList[str]):
    @property
    def format(self) -> ListFormat[str]:
        return PATTERNS

    async def add(self, pattern: str, *, sync: bool = False) -> Outcome:
        """Append a pattern. Raises Exists."""
        touched = self.touch(pattern, CREATE)

        async def check() -> Sequence[MemberChange]:
            if pattern in (await self._patterns()).values():
                raise Exists(pattern)
            return [MemberChange(touched.object, "pattern", None, pattern)]

        step = lists.add_pattern(self.name, pattern)
        return await self.change(step, lambda before: [*before, pattern], sync=sync, touched=touched, check=check)

    async def delete(self, reference: str, *, sync: bool = False) -> Outcome:
        """Delete the pattern with a reference, the address in the worker's memory that HAProxy prints."""
        deleted: str | None = None

        async def check() -> Sequence[MemberChange]:
            nonlocal deleted
            deleted = (await self._patterns()).get(reference)
            return [] if deleted is None else [MemberChange(self.touch(deleted, DELETE).object, "pattern", deleted, None)]

        def edit(before: Sequence[str]) -> Sequence[str]:
            left = list(before)
            if deleted in left:
                left.remove(deleted)
            return left

        step = lists.delete_pattern(self.name, reference)
        return await self.change(step, edit, sync=sync, touched=self.touch(reference, DELETE), check=check)

    async def replace(self, patterns: Sequence[str], *, sync: bool = False) -> Outcome:
        return await self.change(lists.replace_patterns(self.name, lambda: patterns), lambda before: patterns, sync=sync)

    async def _patterns(self) -> Mapping[str, str]:
        """Return the patterns by their references; none for a missing ACL, whose change HAProxy refuses anyway."""
        with suppress(RuntimeRefused):
            return dict(await lists.read_acl(self.context.runtime, self.name))
        return {}


# -- finding lists by the names that clients use


# The prefix of a map without a file.
VIRTUAL = "virt@"


def stored_map(context: CommitContext, store: MapStore, path: Path, author: Author, name: str = "", elsewhere: str = "") -> LiveMap:
    """Return the map of a file. `name`: HAProxy's name of the map, if it is not the path.

    `elsewhere`: the path of a map outside the store. Its object name contains the whole path, and its file cannot be changed.
    """
    obstacle = f"the file of map {elsewhere} is not in maps_dir {store.directory}, so it cannot be changed" if elsewhere else ""
    return LiveMap(context, name or str(path), spelled("map", elsewhere or path.name), author, store, path, obstacle)


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
            return stored_map(context, store, path, author, map_.name)
    if own is None or not await asyncio.to_thread(os.path.lexists, own):
        document = context.running.document or context.current.document
        stored_name = store.stored_name(name)
        for map_, path in loaded:
            loaded_from = posixpath.normpath(path_of_name(document, context.base(document), map_.name))
            # HAProxy prints -1 for every map without a number.
            identities = [map_.name, *([map_.id] if map_.id.isdecimal() else [])]
            if name == loaded_from or stored_name in map(store.stored_name, identities):
                elsewhere = "" if path else map_.name if map_.name.startswith(VIRTUAL) else loaded_from
                return stored_map(context, store, path or Path(map_.name), author, map_.name, elsewhere)
    return stored_map(context, store, own or store.path_of(name), author)


async def find_acl(context: CommitContext, stores: Mapping[str, Store], name: str) -> LoadedAcl | None:
    """Return the ACL with this number, or with a file of this path or name; None if there is none. Raises RuntimeFailure.

    If the files of several ACLs have this name, return the ACL whose file is in `acl_dir`, or None if no such file is in `acl_dir`.
    """
    acls = [(acl, _acl_path(context, stores, acl)) for acl in await lists.list_acls(context.runtime)]
    for acl, path in acls:
        if name == acl.id or (path and name in (acl.file, path)):
            return acl
    own = [str(store.directory / name) for key, store in stores.items() if key == "acls" and name in {path.name for path in store.files()}]
    named = [acl for acl, path in acls if (path in own if own else path and path.rpartition("/")[2] == name)]
    return named[0] if len(named) == 1 else None


async def find_live_acl(context: CommitContext, stores: Mapping[str, Store], name: str, author: Author) -> LiveAcl:
    """Return the ACL that `find_acl` finds, for changes. If there is none, HAProxy refuses changes of the returned ACL.

    Permissions and the history name an ACL by the path of its file, unless the client names it by its number.
    """
    acl = await find_acl(context, stores, name)
    # HAProxy knows an ACL as `#<id>`, or by its file.
    is_number = name.isdecimal() or (acl is None and "/" not in name)
    own = f"#{name}" if is_number else acl.file if acl else name
    if acl is None or not acl.file:
        return LiveAcl(
            context, own, f"acl/{encoded(own)}", author, None, Path(), f"ACL {own} is defined in the configuration and has no file"
        )
    found = ((store, path) for store in stores.values() if (path := store.file_loaded_as(context, acl.file)))
    store, path = next(found, (None, Path()))
    known = ", ".join(sorted({f"{store.setting} {store.directory}" for store in stores.values()}))
    what = f"the file of ACL {own}, {acl.file}, is not in a directory of stored files, so it cannot be changed"
    object_ = f"acl/{encoded(own if is_number else _acl_path(context, stores, acl))}"
    return LiveAcl(context, own, object_, author, store, path, "" if store else f"{what}; they are: {known}")


def _acl_path(context: CommitContext, stores: Mapping[str, Store], acl: LoadedAcl) -> str:
    """Return the absolute path of an ACL's file, however HAProxy spells it; empty for an ACL without a file."""
    if not acl.file:
        return ""
    own = next(filter(None, (store.file_loaded_as(context, acl.file) for store in stores.values())), None)
    document = context.running.document or context.current.document
    return str(own or posixpath.normpath(path_of_name(document, context.base(document), acl.file)))


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
        for path, name in (await self._store.all_loaded(self._context)).items():
            if str(path) in self._context.ledger.entries:
                continue
            try:
                if not self._context.ledger.is_known(path, worker):
                    self._warn_once(str(path), f"{path} is newer than the map that HAProxy has loaded, so it is not overwritten")
                    continue
                if await stored_map(self._context, self._store, path, _SYNC_AUTHOR, name).follow():
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
