"""Store files that HAProxy loads as lists: maps and ACLs (HAProxy Management Guide, section 9.3, `show map`, `show acl`).

If HAProxy has loaded a file, a change replaces the whole loaded list at runtime, or nothing. Only the worker reports which lists are
loaded: the configuration may refer to a file that HAProxy has not read yet.
"""

import asyncio
from abc import abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Generic, TypeVar

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import references
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import NotFound, RuntimeFailure, Unusable
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.planning.touches import Touch
from haproxy_native.runtime import lists
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.dumps import EntriesDigest
from haproxy_native.runtime.lists import ENTRIES_HEAD, LoadedAcl, LoadedMap, MapEntry, replace_map, replace_patterns
from haproxy_native.storage import list_files
from haproxy_native.storage.store import Store, is_file_name, plan_reload, plan_reload_of_loaded, uploaded_name
from haproxy_native.text.document import Document

Loaded = TypeVar("Loaded")


class ListStore(Store, Generic[Loaded]):
    """The base of both stores. `Loaded` is the type of a list in the process."""

    # The word for a loaded file, such as "a map", in reasons for a reload.
    word: str
    # The largest file, in bytes, that is sent by commands. For a larger file a reload is quicker.
    largest: int

    @abstractmethod
    async def all_loaded(self, context: CommitContext) -> Mapping[Path, Loaded]:
        """Return the lists that the worker has loaded from files of this store, by path. Raises RuntimeFailure."""

    async def loaded(self, context: CommitContext, path: Path) -> Loaded | None:
        """Return the list that the worker has loaded from a file; None if the worker has not loaded the file. Raises RuntimeFailure."""
        return (await self.all_loaded(context)).get(path)

    @abstractmethod
    def replacing_step(self, loaded: Loaded, path: Path, content: Path) -> tuple[Step, str]:
        """Return (the step that replaces a loaded list by the file, the obstacle). The obstacle is empty if the step is possible. Blocks.

        `content`: the path of the draft with the new content. When the step is applied, the new content is at `path`.
        """

    @abstractmethod
    def show_command(self, loaded: Loaded) -> str:
        """Return the command that prints the entries of a list."""

    async def loaded_digest(self, context: CommitContext, path: Path) -> str | None:
        if (loaded := await self.loaded(context, path)) is None:
            return None
        entries = EntriesDigest()
        await context.runtime.read_dump(self.show_command(loaded), ENTRIES_HEAD, entries)
        return entries.value

    @abstractmethod
    def printed_entries(self, path: Path) -> Iterator[str]:
        """Yield the entries of a file, each as HAProxy prints it for a loaded list. Blocks. Raises OSError."""

    async def differing(self, context: CommitContext) -> list[tuple[str, str, str]]:
        def file_digest(path: Path) -> str:
            digest = EntriesDigest()
            for line in self.printed_entries(path):
                digest.take(f"0x0 {line}\n".encode("utf-8", "surrogateescape"))
            return digest.value

        found = list[tuple[str, str, str]]()
        loaded = await self.all_loaded(context)
        for path in [path for path in await asyncio.to_thread(self.files) if path in loaded]:
            worker = await self.loaded_digest(context, path)
            with suppress(OSError, Unusable):
                if worker is not None and (on_disk := await asyncio.to_thread(file_digest, path)) != worker:
                    found.append((spelled(self.kind, path.name), on_disk, worker))
        return found

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        running_lines, current_lines = self.running_references(context, path), self.references(context, path)
        try:
            loaded = await self.loaded(context, path)
        except RuntimeFailure as error:
            return plan_reload(running_lines, current_lines, f"it is not known whether HAProxy has loaded {path.name}: {error}")
        if loaded is None:
            return plan_reload(running_lines, current_lines, f"HAProxy has not loaded {path.name} as {self.word}")
        if content is None:
            return plan_reload_of_loaded(running_lines, current_lines, f"HAProxy still has {path.name} loaded")

        def plan_step() -> tuple[Step | None, str]:
            if (size := content.stat().st_size) > self.largest:
                return None, f"{size} bytes are loaded faster by a reload than by commands"
            return self.replacing_step(loaded, path, content)

        step, obstacle = await asyncio.to_thread(plan_step)
        return (
            FilePlan([step], (), True, bool(current_lines))
            if step and not obstacle
            else plan_reload_of_loaded(running_lines, current_lines, obstacle)
        )


class MapStore(ListStore[LoadedMap]):
    """The store `maps`."""

    kind = "map"
    description = "managed map file"
    created = "managed but not loaded map file (no runtime ID)"
    word = "a map"
    largest = 64 << 20

    def name_of(self, upload: str) -> str:
        name = uploaded_name(upload)
        return name if not name or name.endswith(".map") else f"{name}.map"

    async def all_loaded(self, context: CommitContext) -> Mapping[Path, LoadedMap]:
        loaded = reversed(await lists.list_maps(context.runtime))
        return {own: map_ for map_ in loaded if (own := self.file_loaded_as(context, map_.name))}

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        verbs = list_files.changed_keys(*(text.decode("utf-8", "surrogateescape") for text in (before, after)))
        return [Touch(spelled(self.kind, path.name, "entry", key), verb) for key, verb in (verbs or {}).items()]

    def show_command(self, loaded: LoadedMap) -> str:
        return f"show map {argument(loaded.name)}"

    def replacing_step(self, loaded: LoadedMap, path: Path, content: Path) -> tuple[Step, str]:
        with content.open("rb") as file:
            return replace_map(loaded.name, lambda: self.entries(path)), list_files.payload_obstacle(file)

    def path_of(self, name: str) -> Path:
        """Return the path of the map that a client names, even if it does not exist. Raises NotFound for a malformed name."""
        own = self.resolved(name)
        if not is_file_name(own):
            raise NotFound(f"{name[:100]!r} is not the name of a map")
        return self.directory / own

    def entries(self, path: Path) -> Iterator[MapEntry]:
        """Yield the entries of a map file. Reads the file line by line. Blocks. Raises OSError."""
        with self.opened(path, buffering=-1) as file:
            yield from (entry for line in file if (entry := list_files.parse_map_line(line.decode("utf-8", "surrogateescape"))))

    def printed_entries(self, path: Path) -> Iterator[str]:
        return (f"{each.key} {each.value}" for each in self.entries(path))

    def find_value(self, base: Callable[[Document], str], document: Document, value: str) -> str:
        """Return a sentence about the first entry with this value in the maps that the document refers to; empty if there is none.

        Blocks.
        """
        try:
            for path in self.files():
                if references(document, str(path), base(document)):
                    for entry in self.entries(path):
                        if entry.value == value:
                            return f"{entry.key} in map {path.name} names it"
        except (OSError, Unusable) as error:
            return f"a map may name it: {error}"
        return ""


class AclStore(ListStore[LoadedAcl]):
    """The store `acls`: files with a pattern on each line."""

    kind = "acl_file"
    description = "managed ACL file"
    created = "managed but not loaded ACL file"
    word = "an ACL"
    # HAProxy needs one command for each pattern.
    largest = 16 << 20

    async def all_loaded(self, context: CommitContext) -> Mapping[Path, LoadedAcl]:
        loaded = reversed(await lists.list_acls(context.runtime))
        return {own: acl for acl in loaded if acl.file and (own := self.file_loaded_as(context, acl.file))}

    def show_command(self, loaded: LoadedAcl) -> str:
        return f"show acl #{loaded.id}"

    def printed_entries(self, path: Path) -> Iterator[str]:
        return iter(list_files.parse_patterns(self.content(path).decode("utf-8", "surrogateescape")))

    def replacing_step(self, loaded: LoadedAcl, path: Path, content: Path) -> tuple[Step, str]:
        return replace_patterns(loaded.file, lambda: self.printed_entries(path)), ""
