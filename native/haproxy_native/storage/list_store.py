"""Store files that HAProxy loads as lists: maps and ACLs (HAProxy Management Guide, section 9.3, `show map`, `show acl`).

If HAProxy has loaded a file, a change replaces the whole loaded list at runtime, or nothing. Only the worker reports which lists are
loaded: the configuration may refer to a file that HAProxy has not read yet.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, Generic, TypeVar

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import FileReference, references
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import NotFound, RuntimeFailure, Unusable
from haproxy_native.planning.touches import Touch
from haproxy_native.runtime import lists
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.dumps import EntriesDigest
from haproxy_native.runtime.lists import MapEntry
from haproxy_native.storage import list_files
from haproxy_native.storage.digests import PrintedKind
from haproxy_native.storage.store import RuntimeWay, Store, is_file_name, uploaded_name
from haproxy_native.text.document import Document

Item = TypeVar("Item")


@dataclass(frozen=True)
class ListFormat(Generic[Item]):
    """A kind of lists, maps or ACLs: how their entries are written in files, and how they are read and replaced in the worker."""

    # The word for a loaded file, in reasons for a reload.
    word: str
    # The largest file, in bytes, that is sent by commands. For a larger file a reload is quicker.
    largest: int
    # Parses a line of a file; the result is false for comments and blank lines.
    parse_line: Callable[[str], Item | None]
    # Returns the text edited to have exactly these entries. Raises BadValue for an entry that does not fit in a line.
    edit: Callable[[str, Sequence[Item]], str]
    # Returns an entry as HAProxy prints it.
    as_printed: Callable[[Item], str]
    # Returns the names of the lists that the worker has loaded from files.
    loaded_names: Callable[[Runtime], Awaitable[Sequence[str]]]
    # Returns the entries of a loaded list, in their order.
    read: Callable[[Runtime, str], Awaitable[list[Item]]]
    # Returns the command that prints them.
    show_command: Callable[[str], str]
    # Returns the step that replaces the entries of a loaded list.
    replace: Callable[[str, Callable[[], Iterable[Item]]], Step]
    # Returns why the lines of a file cannot be sent by commands; empty if they can.
    obstacle: Callable[[Iterable[bytes]], str] = lambda lines: ""

    def parse(self, text: str) -> list[Item]:
        return [entry for line in text.split("\n") if (entry := self.parse_line(line))]

    def read_file(self, file: BinaryIO) -> Iterator[Item]:
        """Yield the entries of a file. Reads the file line by line. Blocks. Raises OSError."""
        return (entry for line in file if (entry := self.parse_line(line.decode("utf-8", "surrogateescape"))))

    async def loaded_digest(self, runtime: Runtime, name: str) -> str:
        entries = EntriesDigest()
        await runtime.read_dump(self.show_command(name), lists.ENTRIES_HEAD, entries)
        return entries.value

    def _file_digest(self, file: BinaryIO) -> str:
        digest = EntriesDigest()
        for entry in self.read_file(file):
            digest.take(f"0x0 {self.as_printed(entry)}\n".encode("utf-8", "surrogateescape"))
        return digest.value

    @property
    def printed_kind(self) -> PrintedKind:
        return PrintedKind(self.loaded_names, self.loaded_digest, self._file_digest)


async def _map_names(runtime: Runtime) -> list[str]:
    return [loaded.name for loaded in await lists.list_maps(runtime)]


async def _acl_files(runtime: Runtime) -> list[str]:
    return [loaded.file for loaded in await lists.list_acls(runtime) if loaded.file]


async def _read_patterns(runtime: Runtime, name: str) -> list[str]:
    return [pattern for _, pattern in await lists.read_acl(runtime, name)]


MAPS = ListFormat[MapEntry](
    word="a map",
    largest=64 << 20,
    parse_line=list_files.parse_map_line,
    edit=list_files.edit_map,
    as_printed=lambda entry: f"{entry.key} {entry.value}",
    loaded_names=_map_names,
    read=lists.read_map,
    show_command=lists.show_map,
    replace=lists.replace_map,
    obstacle=list_files.payload_obstacle,
)
PATTERNS = ListFormat[str](
    word="an ACL",
    # HAProxy needs one command for each pattern.
    largest=16 << 20,
    parse_line=list_files.parse_pattern,
    edit=list_files.edit_patterns,
    as_printed=lambda pattern: pattern,
    loaded_names=_acl_files,
    read=_read_patterns,
    show_command=lists.show_acl,
    replace=lists.replace_patterns,
)


class ListStore(Store, Generic[Item]):
    """The base of both stores."""

    format: ListFormat[Item]

    async def all_loaded(self, context: CommitContext) -> Mapping[Path, str]:
        """Return the names of the lists that the worker has loaded from files of this store, by path. Raises RuntimeFailure."""
        return self.loaded_files(context, await self.format.loaded_names(context.runtime))

    async def loaded_digest(self, context: CommitContext, path: Path) -> str | None:
        name = (await self.all_loaded(context)).get(path)
        return None if name is None else await self.format.loaded_digest(context.runtime, name)

    async def find_runtime_way(
        self, context: CommitContext, path: Path, content: Path | None, running_lines: Sequence[FileReference]
    ) -> RuntimeWay:
        try:
            name = (await self.all_loaded(context)).get(path)
        except RuntimeFailure as error:
            return RuntimeWay(obstacle=f"it is not known whether HAProxy has loaded {path.name}: {error}")
        if name is None:
            return RuntimeWay(obstacle=f"HAProxy has not loaded {path.name} as {self.format.word}")
        if content is None:
            return RuntimeWay(obstacle=f"HAProxy still has {path.name} loaded", is_loaded=True)

        def find_obstacle() -> str:
            if (size := content.stat().st_size) > self.format.largest:
                return f"{size} bytes are loaded faster by a reload than by commands"
            with content.open("rb") as file:
                return self.format.obstacle(file)

        # When the step is applied, the new content is at `path`.
        step = self.format.replace(name, lambda: self.entries(path))
        return RuntimeWay([step], await asyncio.to_thread(find_obstacle), is_loaded=True)

    def entries(self, path: Path) -> Iterator[Item]:
        """Yield the entries of a file. Reads the file line by line. Blocks. Raises OSError."""
        with self.open_file(path, buffering=-1) as file:
            yield from self.format.read_file(file)


class MapStore(ListStore[MapEntry]):
    """The store `maps`."""

    kind = "map"
    description = "managed map file"
    created = "managed but not loaded map file (no runtime ID)"
    format = MAPS
    printed_kinds = (MAPS.printed_kind,)

    def name_of(self, upload: str) -> str:
        name = uploaded_name(upload)
        return name if not name or name.endswith(".map") else f"{name}.map"

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        verbs = list_files.changed_keys(*(text.decode("utf-8", "surrogateescape") for text in (before, after)))
        return [Touch(spelled(self.kind, path.name, "entry", key), verb) for key, verb in (verbs or {}).items()]

    def path_of(self, name: str) -> Path:
        """Return the path of the map that a client names, even if it does not exist. Raises NotFound for a malformed name."""
        own = self.stored_name(name)
        if not is_file_name(own):
            raise NotFound(f"{name[:100]!r} is not the name of a map")
        return self.directory / own

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


class AclStore(ListStore[str]):
    """The store `acls`: files with a pattern on each line."""

    kind = "acl_file"
    description = "managed ACL file"
    created = "managed but not loaded ACL file"
    format = PATTERNS
    printed_kinds = (PATTERNS.printed_kind,)
