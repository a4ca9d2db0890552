"""The entries of a map as a transaction has them: they change in its file at the commit, and in the process with that."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.errors import Conflict, Exists, NotFound, WriteFailed
from haproxy_native.request_context import Author
from haproxy_native.runtime import lists
from haproxy_native.runtime.lists import MapEntry
from haproxy_native.storage import map_file
from haproxy_native.storage.live_file import EntriesEdit
from haproxy_native.storage.live_maps import check_key
from haproxy_native.storage.map_store import MapStore


@dataclass(frozen=True)
class StagedMap:
    """`store` is that of a transaction (`Store.within`), and `sync` is always so.

    What changes it raises Missing, NotFound, BadValue, Conflict and WriteFailed.
    """

    context: CommitContext
    store: MapStore
    path: Path
    author: Author

    async def entries(self) -> list[MapEntry]:
        return map_file.read(await self._text())

    async def entry(self, key: str) -> MapEntry | None:
        return next((entry for entry in await self.entries() if entry.key == key), None)

    async def existing(self, key: str) -> MapEntry:
        """Raises NotFound."""
        return next(entry for entry in _with(await self.entries(), key) if entry.key == key)

    async def add(self, key: str, value: str, *, sync: bool = True) -> None:
        """Raises Exists for a key that is there."""
        check_key(key)
        map_file.check_value(value)
        await self._change(lambda before: [*_without(before, key), MapEntry(key, value)])

    async def set(self, key: str, value: str, *, sync: bool = True) -> None:
        """Raises NotFound."""
        map_file.check_value(value)
        await self._change(lambda before: [MapEntry(key, value) if entry.key == key else entry for entry in _with(before, key)])

    async def delete(self, key: str, *, sync: bool = True) -> None:
        """Raises NotFound."""
        await self._change(lambda before: [entry for entry in _with(before, key) if entry.key != key])

    async def fill(self, entries: Sequence[MapEntry], *, sync: bool = True) -> None:
        """Exactly these, in this order."""
        for entry in entries:
            lists.payload_line(entry)
            map_file.check_value(entry.value)
        await self._change(lambda before: list(entries))

    async def clear(self, *, sync: bool = True) -> None:
        await self._change(lambda before: [])

    async def remove(self) -> None:
        """Deletes the file."""
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
        data = map_file.with_entries(text, edit(map_file.read(text))).encode("utf-8", "surrogateescape")
        upload = self.store.other(self.path.name, self.author)
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


def _with(entries: Sequence[MapEntry], key: str) -> Sequence[MapEntry]:
    if not any(entry.key == key for entry in entries):
        raise NotFound(f"{key} not found")
    return entries


def _without(entries: Sequence[MapEntry], key: str) -> Sequence[MapEntry]:
    if any(entry.key == key for entry in entries):
        raise Exists(f"the map has the key {key}")
    return entries
