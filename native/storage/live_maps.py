"""Changes of the maps that HAProxy has loaded, in the process alone or in its file as well.

Without `sync` only the process changes, until its next reload. With it the file follows through the commit: it gets the entries the process
then has, and keeps its order and its comments; what a file holds that the process has yet to read is left in it.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from native.apply.commit import Outcome, commit
from native.apply.file_change import FileChange
from native.apply.site import Site
from native.config.file import Draft
from native.errors import AlreadyThere, BadValue, NotFound, RuntimeAbsent
from native.runtime import maps
from native.runtime.commands import Step
from native.runtime.maps import Add, Clear, Delete, Entry, Fill, Set
from native.storage import map_file
from native.storage.map_store import MapStore

Edit = Callable[[Sequence[Entry]], list[Entry]]


@dataclass(frozen=True)
class LiveMap:
    """One map by its file; whatever changes it raises RuntimeFailure, NotTaken and, with `sync`, BadValue and WriteFailed."""

    site: Site
    store: MapStore
    path: Path

    async def entries(self) -> list[Entry]:
        return await maps.entries(self.site.runtime, self.name)

    async def entry(self, key: str) -> Entry | None:
        return await maps.entry(self.site.runtime, self.name, key)

    @property
    def name(self) -> str:
        return str(self.path)

    async def add(self, key: str, value: str, *, sync: bool = False) -> None:
        """Raises AlreadyThere for a key that is there."""
        _check_key(key)
        await self._change(Add(self.name, key, value), lambda before: [*before, Entry(key, value)], sync, new=key)

    async def set(self, key: str, value: str, *, sync: bool = False) -> None:
        step = Set(self.name, key, value)
        await self._change(step, lambda before: [Entry(key, value) if each.key == key else each for each in before], sync)

    async def delete(self, key: str, *, sync: bool = False) -> None:
        await self._change(Delete(self.name, key), lambda before: [each for each in before if each.key != key], sync)

    async def fill(self, entries: Sequence[Entry], *, sync: bool = False) -> None:
        """Exactly these, in this order."""
        for each in entries:
            maps.payload_line(each)
        await self._change(Fill(self.name, lambda: entries), lambda before: list(entries), sync, whole=True)

    async def clear(self, *, sync: bool = False) -> None:
        await self._change(Clear(self.name), lambda before: [], sync, whole=True)

    async def remove(self) -> None:
        """Empties the map and deletes its file, whoever refers to it. Raises NotThere."""
        self.store.check_there(self.path)
        change = FileChange(
            self.store, self.path, check=lambda: self.store.check_there(self.path), steps=[Clear(self.name)], may_reload=False
        )
        _check_live(await commit(self.site, change))

    async def follow(self) -> bool:
        """The file gets what the process has, unless it waits to be read itself; whether it was changed."""
        if self.name in self.site.stored.entries:
            return False
        entries = await self.entries()
        if await asyncio.to_thread(self._says, entries):
            return False
        await commit(self.site, FileChange(self.store, self.path, compose=lambda: self._composed((), list, whole=False), may_reload=False))
        return True

    def _says(self, entries: Sequence[Entry]) -> bool:
        """Whether the file has just these."""
        text = self._text()
        return map_file.with_entries(text, entries) == text

    async def _change(self, step: Step, edit: Edit, sync: bool, *, whole: bool = False, new: str = "") -> None:
        """`new`: a key that must not be there yet."""

        async def composed() -> FileChange:
            await self._refuse_taken(new)
            return await self._composed([step], edit, whole=whole)

        if sync:
            _check_live(await commit(self.site, FileChange(self.store, self.path, compose=composed, may_reload=False)))
            return
        async with self.site.lock:
            await self._refuse_taken(new)
            await step.carry_out(self.site.runtime)

    async def _refuse_taken(self, key: str) -> None:
        if key and await self.entry(key):
            raise AlreadyThere(f"{self.path.name} has the key {key}")

    async def _composed(self, steps: Sequence[Step], edit: Edit, *, whole: bool) -> FileChange:
        """Under the lock: the file as it will be. One that the process has not read as it is only gets the edit."""
        unread = self.name in self.site.stored.entries and not whole
        before = None if unread else await self.entries()
        draft = await asyncio.to_thread(self._edited, before, edit)
        return FileChange(self.store, self.path, draft, steps=steps, may_reload=False, partial=not whole)

    def _edited(self, before: Sequence[Entry] | None, edit: Edit) -> Draft:
        """`before`: what the process has, None where only the file counts."""
        text = self._text()
        entries = edit(map_file.read(text) if before is None else before)
        return self.store.draft(self.path, map_file.with_entries(text, entries).encode("utf-8", "surrogateescape"))

    def _text(self) -> str:
        try:
            return self.path.read_bytes().decode("utf-8", "surrogateescape")
        except FileNotFoundError:
            raise NotFound(f"file {self.path.name} doesn't exist in dir: {self.path.parent}") from None


def _check_live(outcome: Outcome) -> None:
    """Of an operation that has no answer for a reload to come."""
    if not outcome.live:
        why = "; ".join(reason.why for reason in outcome.reasons)
        raise RuntimeAbsent(f"{why}; the file has the change, and reload {outcome.reload_id} will make HAProxy read it", sent=True)


def _check_key(key: str) -> None:
    """HAProxy takes blanks in a key and shows them as if the value began there."""
    if any(sign in key for sign in " \t\r\n\0"):
        raise BadValue(f"the key of a map has no blanks: {key!r}")
