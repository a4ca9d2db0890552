"""Map files, and the maps that HAProxy has made of them (HAProxy Management Guide, section 9.3, `show map`).

A file whose map is loaded changes live. The worker is asked which are: a configuration alone does not tell.
"""

import asyncio
from collections.abc import Iterator
from os.path import normpath
from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import references
from haproxy_native.errors import NotFound, RuntimeFailure, Unusable
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.runtime import maps
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.maps import Fill, Map, MapEntry
from haproxy_native.storage import map_file, names
from haproxy_native.storage.plans import of_map
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document

# Beyond, a reload is quicker.
LARGEST = 64 << 20


class MapStore(Store):
    description = "managed map file"
    created = "managed but not loaded map file (no runtime ID)"

    def name_of(self, upload: str) -> str:
        name = names.uploaded(upload)
        return name if not name or name.endswith(".map") else f"{name}.map"

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        used, wanted = self.used(context, path), self.references(context, path)
        try:
            found = await self.loaded(context.runtime, path)
        except RuntimeFailure as error:
            return of_map(used, wanted, None, f"it is not known whether HAProxy has loaded {path.name}: {error}")
        if found is None:
            return of_map(used, wanted, None, f"HAProxy has not loaded {path.name} as a map")
        why = await asyncio.to_thread(_trouble, content) if content else f"HAProxy still has {path.name} loaded"
        return of_map(used, wanted, Fill(found.name, lambda: self.entries(path)), why)

    async def loaded(self, runtime: Runtime, path: Path) -> Map | None:
        """The map that the worker has made of a file. Raises RuntimeFailure."""
        return next((each for each in await maps.loaded(runtime) if _is(each, path)), None)

    def path_of(self, name: str) -> Path:
        """Where the file of a map is that a client names, whether or not there is one. Raises NotFound."""
        name = self.name_of(name) if not names.is_element(name) or not self._is_ours(name) else name
        if not name:
            raise NotFound("no map name")
        return self.directory / name

    def entries(self, path: Path) -> Iterator[MapEntry]:
        """What a map file holds, read while it is asked for. Raises OSError."""
        with self.opened(path, buffering=-1) as file:
            yield from map_file.from_lines(file)

    def naming(self, context: CommitContext, document: Document, value: str) -> str:
        """The entry of a file that the document refers to, whose value is this; empty where there is none. Blocks."""
        try:
            for path in self.files():
                if references(document, str(path), str(context.current.path.parent)):
                    for entry in self.entries(path):
                        if entry.value == value:
                            return f"{entry.key} in map {path.name} names it"
        except (OSError, Unusable) as error:
            return f"a map may name it: {error}"
        return ""

    def manages(self, loaded: Map) -> bool:
        """Whether the map is that of a file in this directory."""
        return Path(loaded.name).parent == self.directory


def _is(loaded: Map, path: Path) -> bool:
    return normpath(loaded.name) == str(path)


def _trouble(path: Path) -> str:
    if path.stat().st_size > LARGEST:
        return f"{path.stat().st_size} bytes are quicker loaded than sent"
    with path.open("rb") as file:
        return map_file.trouble(file)
