"""The servers of a backend as HAProxy builds them: the defaults' and the backend's `default-server` words, then the line's own
(HAProxy Configuration Manual, sections 4.2 "default-server" and 5.2).
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.editing.defaults_sections import DEFAULTS, implicit_defaults, named_defaults
from haproxy_native.editing.resources import resources
from haproxy_native.grammar.line_shape import LineShape, Reading, opaque_words
from haproxy_native.grammar.load import Grammar
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

DEFAULT_SERVER = "default_server"
MODE, USUAL_MODE = "mode", "tcp"


@dataclass(frozen=True)
class EffectiveServer:
    """`name` is that in HAProxy, unless a variable is in it; `values` come with everything inherited.

    `opaque` are the words that no member expresses, those of the inherited lines first.
    """

    name: str
    place: int
    values: Mapping[str, Any]
    opaque: tuple[str, ...]


@dataclass(frozen=True)
class SectionServers:
    """The server and the server-template lines of a section, in order; the name of a template is its prefix."""

    servers: Sequence[EffectiveServer]
    templates: Sequence[EffectiveServer]


class Servers:
    """Reads effective servers in one grammar, lines that two documents share only once."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.server, self.default = grammar.line(resources()["servers"].schema), grammar.line(DEFAULT_SERVER)
        self.template = grammar.line(resources()["server_templates"].schema)
        self._shapes = {prefix: shape for shape in (self.server, self.default, self.template) for prefix in shape.prefixes()}
        self._taken: dict[tuple[str, ...], tuple[Reading, tuple[str, ...]] | None] = {}

    def is_server(self, line: Line) -> bool:
        return self._shapes.get(line.args[:1]) is self.server

    def is_default(self, line: Line) -> bool:
        return self._shapes.get(line.args[:1]) is self.default

    def of(self, document: Document, section: Section, names: frozenset[str] = frozenset()) -> SectionServers | None:
        """Returns a section's servers; None if a line cannot be read as a server. With `names`, other server lines are not read."""
        inherited, opaque = self._inherited(document, section)
        servers: list[EffectiveServer] = []
        templates: list[EffectiveServer] = []
        for place, line in enumerate(section.lines):
            shape = self._shapes.get(line.args[:1])
            if shape is self.default:
                values, words = self._read(self.default, line)
                inherited, opaque = self.default.added(inherited, values), (*opaque, *words)
                continue
            if shape is None or (names and names.isdisjoint(line.args[1:2])):
                continue
            taken = self._taken_apart(shape, line)
            if taken is None:
                return None
            reading, words = taken
            own, is_server = self.server.added(inherited, reading.values), shape is self.server
            name = unquoted(str(own["name" if is_server else "prefix"]))
            (servers if is_server else templates).append(EffectiveServer(name, place, own, (*opaque, *words)))
        return SectionServers(servers, templates)

    def _taken_apart(self, shape: LineShape, line: Line) -> tuple[Reading, tuple[str, ...]] | None:
        """What a line says, and its opaque words."""
        words = line.words
        if words not in self._taken:
            reading = shape.take(words)
            self._taken[words] = (reading, opaque_words(line, reading)) if reading else None
        return self._taken[words]

    def _read(self, shape: LineShape, line: Line) -> tuple[dict[str, Any], tuple[str, ...]]:
        reading = shape.take(line.words)
        return (dict(reading.values), opaque_words(line, reading)) if reading else ({}, line.words)

    def _inherited(self, document: Document, section: Section) -> tuple[dict[str, Any], tuple[str, ...]]:
        values: dict[str, Any] = {}
        opaque: tuple[str, ...] = ()
        for ancestor in reversed(list(ancestors(document, section))):
            for line in ancestor.lines:
                if self.is_default(line):
                    more, words = self._read(self.default, line)
                    values, opaque = self.default.added(values, more), (*opaque, *words)
        return values, opaque

    def words(self, server: EffectiveServer, skip: Sequence[str] = ()) -> list[list[str]]:
        """The words of the whole server behind its name, one list for each option."""
        flat = {name: value for name, value in server.values.items() if name not in skip}
        parts = [words for _, words, _ in self.server.written(self.server.choose(flat), flat)]
        return parts[2:]

    def unsaid(self) -> set[str]:
        """Members that the line of a server says by another one, or not at all."""
        schemas = self.grammar.schemas
        properties = schemas.properties(schemas.named(resources()["servers"].schema))
        return {name for name, schema in properties.items() if schemas.note(schema).keys() & {"ignored", "alias_of"}}


def mode_of(chain: Iterable[Section]) -> str | None:
    """The mode that the first of these sections gives; None where none gives any, and USUAL_MODE holds."""
    for section in chain:
        given = [line.words[1] for line in section.lines if line.args[:1] == (MODE,) and len(line.words) > 1]
        if given:
            return unquoted(given[-1])
    return None


def ancestors(document: Document, section: Section) -> Iterator[Section]:
    """The defaults sections that a proxy inherits from, the nearest first."""
    name, seen = named_defaults(section) or implicit_defaults(document, section), set()
    while name and name not in seen:
        seen.add(name)
        source = document.find(DEFAULTS, name)
        if source is None:
            return
        yield source
        name = named_defaults(source)
