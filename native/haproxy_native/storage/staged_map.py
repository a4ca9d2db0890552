"""The entries of a map in a transaction: they change in the staged file, and at the commit in the file and the process."""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.errors import Conflict, Exists, NotFound, WriteFailed
from haproxy_native.request_context import Author
from haproxy_native.runtime import lists
from haproxy_native.runtime.lists import MapEntry
from haproxy_native.storage import list_files
from haproxy_native.storage.list_store import MapStore
from haproxy_native.storage.live_lists import EntriesEdit, check_key


@dataclass(frozen=True)
class StagedMap:
    """A map as an author changes it in a transaction. It has the methods of `LiveMap`, and ignores `sync`.

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
        """Return the entry of a key. Raises NotFound."""
        return next(entry for entry in _require(await self.entries(), key) if entry.key == key)

    async def add(self, key: str, value: str, *, sync: bool = True) -> None:
        """Append an entry. Raises Exists."""
        check_key(key)
        list_files.check_map_value(value)
        await self._change(lambda before: [*_refuse(before, key), MapEntry(key, value)])

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


def _require(entries: Sequence[MapEntry], key: str) -> Sequence[MapEntry]:
    if not any(entry.key == key for entry in entries):
        raise NotFound(f"{key} not found")
    return entries


def _refuse(entries: Sequence[MapEntry], key: str) -> Sequence[MapEntry]:
    if any(entry.key == key for entry in entries):
        raise Exists(f"the map has the key {key}")
    return entries
