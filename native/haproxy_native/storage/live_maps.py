"""Changes of the maps that HAProxy has loaded, in the process alone or, with `sync`, in its file as well."""

import asyncio
import logging
import os
import posixpath
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from haproxy_native.changes.file_operations import FollowProcess, PutFile
from haproxy_native.commit.change import Member
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import path_of_name
from haproxy_native.editing.object_names import encoded, parsed, spelled
from haproxy_native.errors import BadRequest, BadValue, Exists, NativeError, NotFound, RuntimeFailure
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author
from haproxy_native.runtime import lists
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import AddEntry, ClearMap, DeleteEntries, MapEntry, ReplaceMap, SetEntry
from haproxy_native.storage import map_file
from haproxy_native.storage.live_file import EntriesEdit, LiveFile, check_live
from haproxy_native.storage.map_store import MapStore
from haproxy_native.text.document import Document

# A map without a file.
VIRTUAL = "virt@"


@dataclass(frozen=True)
class LiveMap(LiveFile[MapEntry]):
    """One map by its file; without `sync` only the process changes, until its next reload.

    `loaded_as`: how HAProxy spells its path, where that differs. `elsewhere`: the path of a map that is in no file of the store, so that
    `sync` is refused with BadRequest.
    """

    loaded_as: str = ""
    elsewhere: str = ""

    @property
    def name(self) -> str:
        return self.loaded_as or str(self.path)

    @property
    def object(self) -> str:
        """The map's name for rights and the history; one from elsewhere has its whole path in it."""
        return spelled("map", self.elsewhere or self.path.name)

    async def entries(self) -> list[MapEntry]:
        return await lists.read_map(self.context.runtime, self.name)

    def read(self, text: str) -> list[MapEntry]:
        return map_file.read(text)

    def written(self, text: str, entries: Sequence[MapEntry]) -> str:
        return map_file.with_entries(text, entries)

    async def entry(self, key: str) -> MapEntry | None:
        return await lists.find_entry(self.context.runtime, self.name, key)

    async def add(self, key: str, value: str, *, sync: bool = False) -> None:
        """Raises Exists for a key that is there, and BadValue for an empty value: only the file can have a key without one."""
        check_key(key)
        if not value:
            raise BadValue(f"the value of the map entry {key[:80]!r} must not be empty: the Runtime API cannot set an empty value")

        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            return [*before, MapEntry(key, value)]

        await self._change(AddEntry(self.name, key, value), edit, sync, self._touch(key, CREATE), value=value)

    async def set(self, key: str, value: str, *, sync: bool = False) -> None:
        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            return [MapEntry(key, value) if entry.key == key else entry for entry in before]

        await self._change(SetEntry(self.name, key, value), edit, sync, self._touch(key, CHANGE), value=value)

    async def delete(self, key: str, *, sync: bool = False) -> None:
        def edit(before: Sequence[MapEntry]) -> list[MapEntry]:
            return [entry for entry in before if entry.key != key]

        await self._change(DeleteEntries(self.name, key), edit, sync, self._touch(key, DELETE))

    async def fill(self, entries: Sequence[MapEntry], *, sync: bool = False) -> None:
        """Exactly these, in this order."""
        for entry in entries:
            lists.payload_line(entry)
            if sync:
                map_file.check_value(entry.value)
        await self._change(ReplaceMap(self.name, lambda: entries), lambda before: list(entries), sync)

    async def clear(self, *, sync: bool = False) -> None:
        await self._change(ClearMap(self.name), lambda before: [], sync)

    async def remove(self) -> None:
        """Empties the map and deletes its file, even if the configuration refers to it. Raises Missing."""
        self._check_ours()
        self.store.check_there(self.path)
        check, steps = lambda: self.store.check_there(self.path), [ClearMap(self.name)]
        check_live(await self.commit(PutFile(self.store, self.path, check=check, steps=steps)))

    async def follow(self) -> bool:
        """The file gets what the process has, unless it waits to be read itself; whether it was changed."""
        if str(self.path) in self.context.ledger.entries:
            return False
        entries = await self.entries()
        if await asyncio.to_thread(self._says, entries):
            return False
        await self.commit(FollowProcess(self.object, lambda: self.drafted((), list)))
        return True

    def _says(self, entries: Sequence[MapEntry]) -> bool:
        """Whether the file has just these."""
        text = self.text()
        return self.written(text, entries) == text

    def _touch(self, key: str, verb: str) -> Touch:
        return Touch(f"{self.object}/entry/{encoded(key)}", verb)

    async def _change(
        self, step: Step, edit: EntriesEdit[MapEntry], sync: bool, touched: Touch | None = None, *, value: str | None = None
    ) -> None:
        """`touched`: the entry that changes, which must not be there where it is created; all of them without it. `value`: its new one."""
        key = parsed(touched.object)[3] if touched else ""
        check = partial(self._refuse_taken, key if touched and touched.verb == CREATE else "")
        if sync:
            self._check_ours()
            map_file.check_value(value or "")
            await self.change(step, edit, whole=touched is None, check=check, touched=[touched] if touched else ())
            return

        async def apply() -> Sequence[Member]:
            await check()
            if touched is None:
                await step.apply(self.context.runtime)
                return []
            old = None if touched.verb == CREATE else await self.entry(key)
            await step.apply(self.context.runtime)
            return [Member(touched.object, "value", old.value if old else None, value)]

        await change_process(self.context, self.object, apply, [touched] if touched else (), author=self.author)

    def _check_ours(self) -> None:
        """Raises BadRequest."""
        if self.elsewhere:
            raise BadRequest(f"the file of map {self.elsewhere} is not in maps_dir {self.store.directory} and stays as it is")

    async def _refuse_taken(self, key: str) -> None:
        if key and await self.entry(key):
            raise Exists(f"{self.path.name} has the key {key}")


async def found(context: CommitContext, store: MapStore, name: str, author: Author) -> LiveMap:
    """The map that a client names: by its file in the store, or by the number or the path that HAProxy lists it with.

    What is not loaded is a file of the store that HAProxy does not know. Raises RuntimeFailure, and NotFound for what can be no name.
    """
    own: Path | None = None
    with suppress(NotFound):
        own = store.path_of(name)
    loaded = [(map_, store.own(context, map_.name)) for map_ in await lists.list_maps(context.runtime)]
    for map_, path in loaded:
        if path and path in (own, store.at(name)):
            return LiveMap(context, store, path, author, map_.name)
    if own is None or not await asyncio.to_thread(os.path.lexists, own):
        wanted = store.resolved(name)
        for map_, path in loaded:
            place = posixpath.normpath(path_of_name(_document(context), str(context.current.path.parent), map_.name))
            # Several maps without a number are shown with -1.
            if name == place or wanted == store.resolved(map_.name) or (map_.id.isdecimal() and wanted == store.resolved(map_.id)):
                elsewhere = "" if path else map_.name if map_.name.startswith(VIRTUAL) else place
                return LiveMap(context, store, path or Path(map_.name), author, map_.name, elsewhere)
    return LiveMap(context, store, own or store.path_of(name), author)


def _document(context: CommitContext) -> Document:
    return context.running.document or context.current.document


def _lines(entries: Sequence[MapEntry]) -> list[str]:
    return [f"{entry.key} {entry.value}" for entry in entries]


def check_key(key: str) -> None:
    """Raises BadValue if the key is empty or has blanks, which HAProxy accepts and then shows as if the value began there."""
    if not key:
        raise BadValue("the key of a map entry must not be empty")
    if any(sign in key for sign in " \t\r\n\0"):
        raise BadValue(f"the key of a map has no blanks: {key!r}")


log = logging.getLogger(__name__)
AUTHOR = Author("map_sync")


class MapSync:
    """Writes the maps of HAProxy's memory to their files at intervals, for those of the storage directory.

    `run` until it is cancelled; `once` is one round. A file that another process has edited since the worker read it is left alone: it is
    newer than what would be written into it.
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
        """The files that were changed. Raises RuntimeFailure."""
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
            changed = await LiveMap(self._context, self._store, path, AUTHOR, name).follow()
        except RuntimeFailure:
            raise
        except NativeError as error:
            self._complain(str(path), f"{path} is not brought up to date: {error}")
            return False
        self._complained.pop(str(path), None)
        return changed

    def _complain(self, about: str, text: str) -> None:
        """Once, until it changes."""
        if self._complained.get(about) != text:
            self._complained[about] = text
            log.warning("%s", text)
