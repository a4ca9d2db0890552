"""Read the servers of a backend with everything that they inherit, and the settings that HAProxy fixes when it loads the file.

A server has the options of the `default-server` lines in the defaults sections, then those in its backend, then its own. A later option
takes precedence (HAProxy Configuration Manual, sections 4.2 "default-server" and 5.2).

Most algorithms of `balance` and `hash-type` use a map of servers that HAProxy computes when it loads the file. With such an algorithm it
accepts no new servers at runtime, and only 0 and the initial value as weights. `fixed` returns these limits; openapi/schemas/server.yaml
declares them (`fixed_by`).
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.editing.defaults_sections import DEFAULTS, implicit_defaults, named_defaults
from haproxy_native.editing.resources import resources
from haproxy_native.grammar.line_shape import LineReading, opaque_words
from haproxy_native.grammar.load import Grammar
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

DEFAULT_SERVER = "default_server"
MODE, USUAL_MODE = "mode", "tcp"


@dataclass(frozen=True)
class EffectiveServer:
    """A server with everything that it inherits."""

    # Without quotes. A name that contains a variable keeps its quotes.
    name: str
    # The index of its line in the section.
    place: int
    values: Mapping[str, Any]
    # Words that no member expresses. The words of inherited lines come first.
    opaque: tuple[str, ...]


@dataclass(frozen=True)
class SectionServers:
    """The servers of a section, in order."""

    servers: Sequence[EffectiveServer]
    # Lines of `server-template`; the name is the prefix.
    templates: Sequence[EffectiveServer]


class Servers:
    """Parses the servers of sections with one grammar. Equal lines are parsed only once."""

    def __init__(self, grammar: Grammar) -> None:
        self.grammar = grammar
        self.server, self.default = grammar.line(resources()["servers"].schema), grammar.line(DEFAULT_SERVER)
        self.template = grammar.line(resources()["server_templates"].schema)
        self._shapes = {prefix: shape for shape in (self.server, self.default, self.template) for prefix in shape.prefixes()}
        self._readings: dict[tuple[str, ...], tuple[LineReading, tuple[str, ...]] | None] = {}

    def is_server(self, line: Line) -> bool:
        return self._shapes.get(line.args[:1]) is self.server

    def is_default(self, line: Line) -> bool:
        return self._shapes.get(line.args[:1]) is self.default

    def read_section(self, document: Document, section: Section, names: frozenset[str] = frozenset()) -> SectionServers | None:
        """Return the servers of a section; None if a server line cannot be parsed. `names`: parse only these servers; empty for all."""
        inherited: dict[str, Any] = {}
        opaque: tuple[str, ...] = ()
        for ancestor in reversed(list(ancestors(document, section))):
            for line in ancestor.lines:
                if self.is_default(line):
                    values, words = self._read_default(line)
                    inherited, opaque = self.default.added(inherited, values), (*opaque, *words)
        servers: list[EffectiveServer] = []
        templates: list[EffectiveServer] = []
        for place, line in enumerate(section.lines):
            shape = self._shapes.get(line.args[:1])
            if shape is self.default:
                values, words = self._read_default(line)
                inherited, opaque = self.default.added(inherited, values), (*opaque, *words)
                continue
            if shape is None or (names and names.isdisjoint(line.args[1:2])):
                continue
            if line.words not in self._readings:
                parsed = shape.parse_words(line.words)
                self._readings[line.words] = (parsed, opaque_words(line, parsed)) if parsed else None
            cached = self._readings[line.words]
            if cached is None:
                return None
            reading, words = cached
            own, is_server = self.server.added(inherited, reading.values), shape is self.server
            name = unquoted(str(own["name" if is_server else "prefix"]))
            (servers if is_server else templates).append(EffectiveServer(name, place, own, (*opaque, *words)))
        return SectionServers(servers, templates)

    def _read_default(self, line: Line) -> tuple[dict[str, Any], tuple[str, ...]]:
        """Return (values, opaque words) of a `default-server` line."""
        reading = self.default.parse_words(line.words)
        return (dict(reading.values), opaque_words(line, reading)) if reading else ({}, line.words)

    def words(self, server: EffectiveServer, skip: Sequence[str] = ()) -> list[list[str]]:
        """Return the words of a `server` line after the name, one list for each option. `skip`: members to leave out."""
        flat = {name: value for name, value in server.values.items() if name not in skip}
        parts = [words for _, words, _ in self.server.written(self.server.choose(flat), flat)]
        return parts[2:]

    def wordless_members(self) -> set[str]:
        """Return the members that have no words of their own in a `server` line."""
        schemas = self.grammar.schemas
        properties = schemas.properties(schemas.named(resources()["servers"].schema))
        return {name for name, schema in properties.items() if schemas.note(schema).keys() & {"ignored", "alias_of"}}


def mode_of(chain: Iterable[Section]) -> str | None:
    """Return the mode from the first section that sets a mode; None if no section does, which means USUAL_MODE."""
    for section in chain:
        given = [line.words[1] for line in section.lines if line.args[:1] == (MODE,) and len(line.words) > 1]
        if given:
            return unquoted(given[-1])
    return None


def ancestors(document: Document, section: Section) -> Iterator[Section]:
    """Yield the defaults sections that a proxy inherits from, the nearest first."""
    name, seen = named_defaults(section) or implicit_defaults(document, section), set()
    while name and name not in seen:
        seen.add(name)
        source = document.find(DEFAULTS, name)
        if source is None:
            return
        yield source
        name = named_defaults(source)


WEIGHTS, ADDITIONS, EVERYTHING = "weights", "additions", "everything"
NEGATION = "no"


@dataclass(frozen=True)
class Fixed:
    """Limits on commands for the servers of a proxy. Each field is the line that causes the limit, or empty."""

    # HAProxy accepts only 0 and the initial value as weights.
    weights: str = ""
    # HAProxy accepts no new server.
    additions: str = ""
    # HAProxy accepts no command.
    everything: str = ""


def fixed(chain: Iterable[Section], grammar: Grammar) -> Fixed:
    """Return the limits of a proxy. `chain`: its section, then the defaults sections that it inherits from, the nearest first."""
    rules: Sequence[Mapping[str, Any]] = grammar.schemas.note(grammar.schemas.named(resources()["servers"].schema))["fixed_by"]
    keywords = {name.split()[0] for rule in rules for name in (rule["keyword"], rule.get("ended_by", ""), *rule.get("unless", ())) if name}
    settings: dict[str, str | None] = {}
    for section in chain:
        settings = dict(_settings_of_lines(section, rules, keywords)) | settings
    limits: dict[str, str] = {}
    for rule in rules:
        keyword = rule["keyword"]
        if (value := settings.get(keyword)) is None:
            continue
        name = value.partition("(")[0]
        if ("values" in rule and name not in rule["values"]) or name in rule.get("but", ()):
            continue
        if any(settings.get(other) == exempting for other, exempting in rule.get("unless", {}).items()):
            continue
        for what in rule["fixes"]:
            limits.setdefault(what, f"{keyword} {value}".rstrip())
    return Fixed(*(limits.get(what, "") for what in (WEIGHTS, ADDITIONS, EVERYTHING)))


def _settings_of_lines(section: Section, rules: Sequence[Mapping[str, Any]], first: Collection[str]) -> Iterator[tuple[str, str | None]]:
    """Yield (keyword, value) for each setting in the lines of a section. The value is None if a line resets the keyword.

    If a keyword is set several times, its last value takes precedence.
    """
    ends = {rule["ended_by"]: rule["keyword"] for rule in rules if "ended_by" in rule}
    for line in section.lines[1:]:
        words = line.args
        is_negated = words[:1] == (NEGATION,)
        words = words[1:] if is_negated else words
        if not words or words[0] not in first:
            continue
        if words[0] in ends:
            yield ends[words[0]], None
        for rule in rules:
            for keyword in (rule["keyword"], *rule.get("unless", ())):
                parts = tuple(keyword.split())
                if words[: len(parts)] == parts:
                    yield keyword, None if is_negated else "".join(words[len(parts) : len(parts) + 1])
