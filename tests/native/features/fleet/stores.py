"""A store in memory that loses, delays and repeats notifications, and that can be unavailable."""

import asyncio
import random
from collections.abc import AsyncIterator
from dataclasses import dataclass, field

from haproxy_native.features.fleet.store import StoreAway, StoredValue, StoreFacts, TooLarge


@dataclass
class MemoryStore:
    chance: random.Random = field(default_factory=lambda: random.Random(1))
    largest: int = 1 << 20
    is_away: bool = False
    entries: dict[str, StoredValue] = field(default_factory=dict)
    _written: int = 0
    _listening: list[tuple[str, asyncio.Queue[None]]] = field(default_factory=list)

    async def _answer(self) -> None:
        await asyncio.sleep(0)
        if self.is_away:
            raise StoreAway("the store is away")

    async def read(self, key: str) -> StoredValue | None:
        await self._answer()
        return self.entries.get(key)

    async def list(self, prefix: str) -> list[StoredValue]:
        await self._answer()
        return [entry for key, entry in sorted(self.entries.items()) if key.startswith(prefix)]

    async def create(self, key: str, value: bytes) -> str | None:
        await self._answer()
        return None if key in self.entries else self._put(key, value)

    async def replace(self, key: str, value: bytes, version: str | None = None) -> str | None:
        await self._answer()
        there = self.entries.get(key)
        return self._put(key, value) if version is None or (there and there.version == version) else None

    async def delete(self, key: str) -> bool:
        await self._answer()
        self._notify(key)
        return self.entries.pop(key, None) is not None

    async def present(self, key: str, value: bytes, seconds: int) -> "MemoryPresence | None":
        return MemoryPresence(self, key) if await self.create(key, value) else None

    async def changes(self, prefix: str) -> AsyncIterator[None]:
        await self._answer()
        queue = asyncio.Queue[None]()
        self._listening.append((prefix, queue))
        yield
        while True:
            await queue.get()
            yield

    async def facts(self) -> StoreFacts:
        await self._answer()
        return StoreFacts("memory", sum(len(entry.value) for entry in self.entries.values()))

    async def close(self) -> None:
        self._listening.clear()

    def _put(self, key: str, value: bytes) -> str:
        if len(value) > self.largest:
            raise TooLarge(key)
        self._written += 1
        self.entries[key] = StoredValue(key, value, str(self._written))
        self._notify(key)
        return str(self._written)

    def _notify(self, key: str) -> None:
        """Notify twice, late or not at all, as the contract of a store permits."""
        for prefix, queue in self._listening:
            if key.startswith(prefix):
                for _ in range(self.chance.randrange(3)):
                    asyncio.get_running_loop().call_later(self.chance.random() / 50, queue.put_nowait, None)


@dataclass
class MemoryPresence:
    store: MemoryStore
    key: str

    async def renew(self) -> bool:
        return await self.store.read(self.key) is not None

    async def leave(self) -> None:
        await self.store.delete(self.key)
