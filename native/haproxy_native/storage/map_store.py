"""Map files, and the maps that HAProxy has made of them (HAProxy Management Guide, section 9.3, `show map`).

A file whose map is loaded changes live. The worker is asked which are: a configuration alone does not tell.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.file_references import references
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import NotFound, Unusable
from haproxy_native.planning.touches import Touch
from haproxy_native.runtime import lists
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.lists import Map, MapEntry, ReplaceMap
from haproxy_native.storage import map_file, names
from haproxy_native.storage.list_store import ListStore
from haproxy_native.text.document import Document


class MapStore(ListStore[Map]):
    kind = "map"
    description = "managed map file"
    created = "managed but not loaded map file (no runtime ID)"
    word = "a map"
    largest = 64 << 20

    def name_of(self, upload: str) -> str:
        name = names.uploaded(upload)
        return name if not name or name.endswith(".map") else f"{name}.map"

    async def all_loaded(self, context: CommitContext) -> Mapping[Path, Map]:
        loaded = reversed(await lists.list_maps(context.runtime))
        return {own: map_ for map_ in loaded if (own := self.own(context, map_.name))}

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        verbs = map_file.changed_keys(*(text.decode("utf-8", "surrogateescape") for text in (before, after)))
        return [Touch(spelled(self.kind, path.name, "entry", key), verb) for key, verb in (verbs or {}).items()]

    def showing(self, loaded: Map) -> str:
        return f"show map {argument(loaded.name)}"

    def filling(self, loaded: Map, path: Path, content: Path) -> tuple[Step, str]:
        with content.open("rb") as file:
            return ReplaceMap(loaded.name, lambda: self.entries(path)), map_file.trouble(file)

    def path_of(self, name: str) -> Path:
        """Returns the path of a map that a client names, whether or not it exists. Raises NotFound."""
        own = self.resolved(name)
        if not names.is_element(own):
            raise NotFound(f"{name[:100]!r} is no name of a map")
        return self.directory / own

    def entries(self, path: Path) -> Iterator[MapEntry]:
        """What a map file holds, read while it is asked for. Raises OSError."""
        with self.opened(path, buffering=-1) as file:
            yield from map_file.from_lines(file)

    def shown(self, path: Path) -> Iterator[str]:
        return (f"{each.key} {each.value}" for each in self.entries(path))

    def naming(self, directory: Path, document: Document, value: str) -> str:
        """The entry of a file that the document refers to, whose value is this; empty where there is none. Blocks."""
        try:
            for path in self.files():
                if references(document, str(path), str(directory)):
                    for entry in self.entries(path):
                        if entry.value == value:
                            return f"{entry.key} in map {path.name} names it"
        except (OSError, Unusable) as error:
            return f"a map may name it: {error}"
        return ""
