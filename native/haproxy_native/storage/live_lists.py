"""Changes of the maps and ACLs that HAProxy has loaded, in the process alone or, with `sync`, in their files as well.

A change with `sync` writes the entries that the process then has into the file: its order and its comments stay, and entries that the
process has not read yet stay as well. Both happen under the commit's lock, all or nothing. A change without `sync` lasts until the next
reload; `MapSync` writes such changes of maps to their files at intervals.
"""

import asyncio
import errno
import logging
import os
import posixpath
from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from os.path import normpath
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
    Exists,
    NativeError,
    NotFound,
    Place,
    RuntimeAbsent,
    RuntimeFailure,
    RuntimeRefused,
    WriteFailed,
)
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.runtime import lists
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import (
    AddEntry,
    AddPattern,
    ClearMap,
    DeleteEntries,
    DeletePattern,
    LoadedAcl,
    MapEntry,
    ReplaceMap,
    ReplacePatterns,
    SetEntry,
)
from haproxy_native.storage import list_files
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.store import Store

log = logging.getLogger(__name__)
Item = TypeVar("Item")
EntriesEdit = Callable[[Sequence[Item]], list[Item]]


async def unchecked() -> None:
    """Refuse nothing."""


@dataclass(frozen=True)
class LiveFile(ABC, Generic[Item]):
    """A file and the list that HAProxy has loaded from it, as an author changes them.

    Changes raise RuntimeFailure, NotTaken, NotFound, BadValue and WriteFailed.
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
        """Parse a text of the file."""

    @abstractmethod
    def edited(self, text: str, entries: Sequence[Item]) -> str:
        """Edit a text so that it has exactly these entries. Raises BadValue for one that does not fit in a line."""

    async def change(
        self,
        step: Step,
        edit: EntriesEdit[Item],
        *,
        whole: bool = False,
        check: Callable[[], Awaitable[None]] = unchecked,
        touched: Sequence[Touch] = (),
    ) -> Outcome:
        """Change file and process. `check` runs under the lock. With `whole` no former entry stays. `touched` are the changed entries."""

        async def drafted() -> Drafted:
            await check()
            return await self.drafted([step], edit, whole=whole, touched=touched)

        return check_live(await self.commit(FollowProcess(f"{self.store.kind}/{self.path.name}", drafted)))

    async def commit(self, operation: FileOperation) -> Outcome:
        # What HAProxy refuses at runtime waits for a reload that comes anyway.
        return await commit(self.context, Change([operation], reload=Reload.LATER, validation=Validation.NEVER, author=self.author))

    async def drafted(
        self, steps: Sequence[Step], edit: EntriesEdit[Item], *, whole: bool = False, touched: Sequence[Touch] = ()
    ) -> Drafted:
        """Draft the file, under the lock: the entries of the process, edited; or those of a file that the process has not read yet."""
        unread = str(self.path) in self.context.ledger.entries and not whole
        before = None if unread else await self.entries()
        draft = await asyncio.to_thread(self._edited, before, edit)
        partial = [] if whole else [self.path]
        return Drafted({self.path: draft}, {self.path: self.store}, touches=touched or None, steps={self.path: steps}, partial=partial)

    def _edited(self, before: Sequence[Item] | None, edit: EntriesEdit[Item]) -> Draft:
        """Edit the entries `before`, or without them those of the file."""
        text = self.text()
        entries = edit(self.parse(text) if before is None else before)
        return self.store.draft(self.path, self.edited(text, entries).encode("utf-8", "surrogateescape"))

    def text(self) -> str:
        try:
            return self.store.content(self.path).decode("utf-8", "surrogateescape")
        except OSError as error:
            if error.errno in (errno.ENOENT, errno.EXDEV):
                raise NotFound(f"file {self.path.name} doesn't exist in dir: {self.path.parent}") from None
            raise WriteFailed(f"cannot read {self.path}: {error.strerror}") from error


def check_live(outcome: Outcome) -> Outcome:
    """Return the outcome. Raise RuntimeAbsent if a change waits for a reload, for operations whose answer cannot say so."""
    if not outcome.live:
        why = "; ".join(reason.why for reason in outcome.reasons)
        reload = f"reload {outcome.reload_id}" if outcome.reload_id else "the next reload"
        raise RuntimeAbsent(f"{why}{'; ' * bool(why)}the file has the change, and {reload} will make HAProxy read it", sent=True)
    return outcome


# The prefix of a map without a file.
VIRTUAL = "virt@"


@dataclass(frozen=True)
class LiveMap(LiveFile[MapEntry]):
    """A map by its file."""

    # How HAProxy spells its path, if that differs.
    loaded_as: str = ""
    # The path of a map outside the store, for which `sync` is refused with BadRequest.
    elsewhere: str = ""

    @property
    def name(self) -> str:
        return self.loaded_as or str(self.path)

    @property
    def object(self) -> str:
        """The map's name for rights and the history; for a map outside the store with its whole path."""
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

        return await self._change(AddEntry(self.name, key, value), edit, sync, self._touch(key, CREATE), value=value)

    async def set(self, key: str, value: str, *, sync: bool = False) -> Outcome:
        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            return [MapEntry(key, value) if entry.key == key else entry for entry in before]

        return await self._change(SetEntry(self.name, key, value), edit, sync, self._touch(key, CHANGE), value=value)

    async def delete(self, key: str, *, sync: bool = False) -> Outcome:
        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            return [entry for entry in before if entry.key != key]

        return await self._change(DeleteEntries(self.name, key), edit, sync, self._touch(key, DELETE))

    async def fill(self, entries: Sequence[MapEntry], *, sync: bool = False) -> Outcome:
        """Replace all entries, in this order."""
        for entry in entries:
            lists.payload_line(entry)
            if sync:
                list_files.check_map_value(entry.value)
        return await self._change(ReplaceMap(self.name, lambda: entries), lambda before: list(entries), sync)

    async def clear(self, *, sync: bool = False) -> Outcome:
        return await self._change(ClearMap(self.name), lambda before: [], sync)

    async def remove(self) -> Outcome:
        """Clear the map and delete its file, even if the configuration refers to it. Raises Missing."""
        self._check_ours()
        self.store.check_there(self.path)
        check, steps = lambda: self.store.check_there(self.path), [ClearMap(self.name)]
        return check_live(await self.commit(PutFile(self.store, self.path, check=check, steps=steps)))

    async def follow(self) -> bool:
        """Write the entries of the process to the file, unless the file waits to be loaded. Return whether it has changed."""
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
        """Change the entry `touched` to `value`, or without it all entries. Raises Exists if it is to be created and exists."""
        key = parsed(touched.object)[3] if touched else ""
        check = partial(self._refuse_taken, key if touched and touched.verb == CREATE else "")
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
        """Raise BadRequest for a map outside the store."""
        if self.elsewhere:
            raise BadRequest(f"the file of map {self.elsewhere} is not in maps_dir {self.store.directory} and stays as it is")

    async def _refuse_taken(self, key: str) -> None:
        if key and await self.entry(key):
            raise Exists(f"{self.path.name} has the key {key}")


async def find_map(context: CommitContext, store: MapStore, name: str, author: Author) -> LiveMap:
    """Return the map that a client names: by its file in the store, or by the number or path that HAProxy prints.

    A map that is not loaded is a file of the store. Raises RuntimeFailure, and NotFound for a malformed name.
    """
    own: Path | None = None
    with suppress(NotFound):
        own = store.path_of(name)
    loaded = [(map_, store.own(context, map_.name)) for map_ in await lists.list_maps(context.runtime)]
    for map_, path in loaded:
        if path and path in (own, store.at(name)):
            return LiveMap(context, store, path, author, map_.name)
    if own is None or not await asyncio.to_thread(os.path.lexists, own):
        document = context.running.document or context.current.document
        wanted = store.resolved(name)
        for map_, path in loaded:
            place = posixpath.normpath(path_of_name(document, str(context.current.path.parent), map_.name))
            # HAProxy prints -1 for every map without a number.
            if name == place or wanted == store.resolved(map_.name) or (map_.id.isdecimal() and wanted == store.resolved(map_.id)):
                elsewhere = "" if path else map_.name if map_.name.startswith(VIRTUAL) else place
                return LiveMap(context, store, path or Path(map_.name), author, map_.name, elsewhere)
    return LiveMap(context, store, own or store.path_of(name), author)


def check_key(key: str) -> None:
    """Raise BadValue for an empty key or one with blanks, which HAProxy accepts and then prints as if the value began there."""
    if not key:
        raise BadValue("the key of a map entry must not be empty", place=Place(member="key"))
    if any(sign in key for sign in " \t\r\n\0"):
        raise BadValue(f"the key of a map has no blanks: {key!r}", place=Place(member="key"))


_SYNC_AUTHOR = Author("map_sync")


class MapSync:
    """Writes the maps of HAProxy's memory to their files in the store at intervals.

    A file that another process has edited since the worker read it stays as it is: it is newer than the map.
    """

    def __init__(self, context: CommitContext, store: MapStore, seconds: float) -> None:
        self._context, self._store, self._seconds = context, store, seconds
        self._complained: dict[str, str] = {}

    async def run(self) -> None:
        while True:
            await asyncio.sleep(self._seconds)
            try:
                await self.once()
            except RuntimeFailure as error:
                self._complain("", f"map files are not brought up to date: {error}")
            except Exception:
                log.exception("map files are not brought up to date")

    async def once(self) -> list[str]:
        """Write all maps that have changed, and return their files. Raises RuntimeFailure."""
        worker = await self._context.runtime.worker()
        managed = await self._store.all_loaded(self._context)
        return [str(path) for path, map_ in managed.items() if await self._follow(path, map_.name, worker)]

    async def _follow(self, path: Path, name: str, worker: Worker) -> bool:
        if str(path) in self._context.ledger.entries:
            return False
        try:
            if not self._context.ledger.is_known(path, worker):
                self._complain(str(path), f"{path} is newer than what HAProxy has loaded of it, and stays as it is")
                return False
            changed = await LiveMap(self._context, self._store, path, _SYNC_AUTHOR, name).follow()
        except RuntimeFailure:
            raise
        except NativeError as error:
            self._complain(str(path), f"{path} is not brought up to date: {error}")
            return False
        self._complained.pop(str(path), None)
        return changed

    def _complain(self, about: str, text: str) -> None:
        """Log a problem once, until it changes."""
        if self._complained.get(about) != text:
            self._complained[about] = text
            log.warning("%s", text)


@dataclass(frozen=True)
class AclFile(LiveFile[str]):
    """The file of an ACL."""

    # The ACL's name in HAProxy.
    acl: str

    async def entries(self) -> list[str]:
        return [pattern for _, pattern in await lists.read_acl(self.context.runtime, self.acl)]

    def parse(self, text: str) -> list[str]:
        return list_files.parse_patterns(text)

    def edited(self, text: str, entries: Sequence[str]) -> str:
        return list_files.edit_patterns(text, entries)


@dataclass(frozen=True)
class LiveAcl:
    """An ACL as an author changes it.

    Changes raise RuntimeFailure and, with `sync`, BadRequest for an ACL without a stored file, NotTaken, BadValue and WriteFailed.
    """

    context: CommitContext
    stores: Mapping[str, Store]
    # `#<id>`, or its file as HAProxy spells it.
    name: str
    author: Author
    # Its file by `acl_path`.
    object_name: str = ""

    async def add(self, pattern: str, *, sync: bool = False) -> None:
        """Append a pattern. Raises Exists."""

        async def check() -> None:
            if pattern in [row for _, row in await self._there()]:
                raise Exists(pattern)

        touched = self.touch(pattern, CREATE)
        changed = MemberChange(touched.object, "pattern", None, pattern)
        await self._change(
            AddPattern(self.name, pattern), lambda before: [*before, pattern], sync, touched, check=check, changes=lambda: [changed]
        )

    async def delete(self, reference: str, *, sync: bool = False) -> None:
        """Delete the pattern of a reference."""
        there = dict[str, str]()

        async def read_current() -> None:
            there.update(await self._there())

        def edit(before: Sequence[str]) -> list[str]:
            left = list(before)
            if (gone := there.get(reference)) in left:
                left.remove(gone)
            return left

        def changes() -> list[MemberChange]:
            gone = there.get(reference)
            return [MemberChange(self.touch(gone, DELETE).object, "pattern", gone, None)] if gone is not None else []

        await self._change(
            DeletePattern(self.name, reference), edit, sync, self.touch(reference, DELETE), check=read_current, changes=changes
        )

    async def replace(self, patterns: Sequence[str], *, sync: bool = False) -> None:
        await self._change(ReplacePatterns(self.name, patterns), lambda before: list(patterns), sync)

    async def _there(self) -> list[tuple[str, str]]:
        """Return references and patterns; none for a missing ACL, which the command that changes it will report."""
        with suppress(RuntimeRefused):
            return await lists.read_acl(self.context.runtime, self.name)
        return []

    @property
    def object(self) -> str:
        return f"acl/{encoded(self.object_name or self.name)}"

    def touch(self, entry: str, verb: str) -> Touch:
        """Return the effect on an entry: a new pattern, or the reference of an existing one."""
        return Touch(f"{self.object}/entry/{encoded(entry)}", verb)

    async def _change(
        self,
        step: Step,
        edit: EntriesEdit[str],
        sync: bool,
        touched: Touch | None = None,
        *,
        check: Callable[[], Awaitable[None]] = unchecked,
        changes: Callable[[], Sequence[MemberChange]] = list,
    ) -> None:
        """Change the entry `touched`, or without it all entries. `changes` is called after `check` and returns what the step changes."""
        touches = [touched] if touched else ()
        if sync:
            await (await self._file()).change(step, edit, whole=touched is None, check=check, touched=touches)
            return

        async def apply() -> Sequence[MemberChange]:
            await check()
            await step.apply(self.context.runtime)
            return changes()

        await change_process(self.context, self.object, apply, touches, author=self.author)

    async def _file(self) -> AclFile:
        """Return the ACL's stored file. Raises BadRequest without one."""
        acl = next((acl for acl in await lists.list_acls(self.context.runtime) if self.name in (f"#{acl.id}", acl.file)), None)
        if acl is None:
            # Raises HAProxy's refusal for a missing ACL.
            await lists.read_acl(self.context.runtime, self.name)
        if acl is None or not acl.file:
            raise BadRequest(f"ACL {self.name} stands in the configuration and has no file that could follow")
        for store in self.stores.values():
            if path := store.own(self.context, acl.file):
                store.check_there(path)
                return AclFile(self.context, store, path, self.author, self.name)
        known = ", ".join(sorted({f"{store.setting} {store.directory}" for store in self.stores.values()}))
        what = f"the file of ACL {self.name}, {acl.file}, is in none of the directories for stored files and stays as it is"
        raise BadRequest(f"{what}; they are: {known}")


def acl_path(context: CommitContext, stores: Mapping[str, Store], acl: LoadedAcl) -> str:
    """Return the one path of an ACL's file, however HAProxy spells it; empty for an ACL without a file."""
    if not acl.file:
        return ""
    own = next(filter(None, (store.own(context, acl.file) for store in stores.values())), None)
    document = context.running.document or context.current.document
    return str(own or normpath(path_of_name(document, str(context.current.path.parent), acl.file)))


async def find_acl(context: CommitContext, stores: Mapping[str, Store], name: str) -> LoadedAcl | None:
    """Return the ACL that a number, a path or the name of a file means. Raises RuntimeFailure.

    Of several files with one name it is the one in `acl_dir`, else none.
    """
    there = [(acl, acl_path(context, stores, acl)) for acl in await lists.list_acls(context.runtime)]
    for acl, place in there:
        if name == acl.id or (place and name in (acl.file, place)):
            return acl
    own = [str(store.directory / name) for key, store in stores.items() if key == "acls" and name in {path.name for path in store.files()}]
    named = [acl for acl, place in there if (place in own if own else place and place.rpartition("/")[2] == name)]
    return named[0] if len(named) == 1 else None
