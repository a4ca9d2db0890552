"""Files from which HAProxy makes a list in memory, maps and ACLs: a list that is loaded is filled anew from its file, live."""

import asyncio
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import RuntimeFailure, Unusable
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.dumps import EntriesDigest
from haproxy_native.runtime.lists import ENTRIES_HEAD
from haproxy_native.storage.plans import by_reload, loaded_anew
from haproxy_native.storage.store import Store

Loaded = TypeVar("Loaded")


class ListStore(Store, Generic[Loaded]):
    """`word` is what HAProxy makes of a file; beyond `largest` bytes a reload is quicker than commands."""

    word: str
    largest: int

    @abstractmethod
    async def all_loaded(self, context: CommitContext) -> Mapping[Path, Loaded]:
        """The lists that the worker has made, by their files. Raises RuntimeFailure."""

    async def loaded(self, context: CommitContext, path: Path) -> Loaded | None:
        """The list that the worker has made of a file. Raises RuntimeFailure."""
        return (await self.all_loaded(context)).get(path)

    @abstractmethod
    def filling(self, loaded: Loaded, path: Path, content: Path) -> tuple[Step, str]:
        """The step that gives a list the entries of `content`, which will stand at `path`; and why HAProxy cannot take them, else "".

        Blocks.
        """

    @abstractmethod
    def showing(self, loaded: Loaded) -> str:
        """The command that shows the entries of a list."""

    async def in_process(self, context: CommitContext, path: Path) -> str | None:
        if (loaded := await self.loaded(context, path)) is None:
            return None
        entries = EntriesDigest()
        await context.runtime.read_dump(self.showing(loaded), ENTRIES_HEAD, entries)
        return entries.value

    @abstractmethod
    def shown(self, path: Path) -> Iterator[str]:
        """The entries of a file, as HAProxy shows those of a list. Blocks, and raises OSError."""

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        found = list[tuple[str, str, str]]()
        loaded = await self.all_loaded(context)
        for path in [path for path in await asyncio.to_thread(self.files) if path in loaded]:
            worker = await self.in_process(context, path)
            with suppress(OSError, Unusable):
                if worker is not None and (held := await asyncio.to_thread(self._digest, path)) != worker:
                    found.append((spelled(self.kind, path.name), held, worker))
        return found

    def _digest(self, path: Path) -> str:
        digest = EntriesDigest()
        for line in self.shown(path):
            digest.take(f"0x0 {line}\n".encode("utf-8", "surrogateescape"))
        return digest.value

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        used, wanted = self.used(context, path), self.references(context, path)
        try:
            loaded = await self.loaded(context, path)
        except RuntimeFailure as error:
            return by_reload(used, wanted, f"it is not known whether HAProxy has loaded {path.name}: {error}")
        if loaded is None:
            return by_reload(used, wanted, f"HAProxy has not loaded {path.name} as {self.word}")
        if content is None:
            return loaded_anew(used, wanted, f"HAProxy still has {path.name} loaded")
        step, trouble = await asyncio.to_thread(self._filling, loaded, path, content)
        return FilePlan([step], (), True, bool(wanted)) if step and not trouble else loaded_anew(used, wanted, trouble)

    def _filling(self, loaded: Loaded, path: Path, content: Path) -> tuple[Step | None, str]:
        size = content.stat().st_size
        return (None, f"{size} bytes are quicker loaded than sent") if size > self.largest else self.filling(loaded, path, content)
