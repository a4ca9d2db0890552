"""Shapes: defaults sections with what a backend inherits and its own lines, from which HAProxy adds such a backend while it runs. Pure.

A shape is a whole copy. With `from` HAProxy would warn that a section is inherited by name and by its place, and one that has rules
cannot be inherited from.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Hashable, Iterator, Sequence
from dataclasses import dataclass

from haproxy_native.editing.bindings import DEFAULTS, all_sources
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.resources import resources
from haproxy_native.editing.shape_file import is_shape, shapes_of
from haproxy_native.grammar.load import Grammar, grammar
from haproxy_native.planning.repetition import repeats
from haproxy_native.planning.section_order import has_conditionals
from haproxy_native.planning.servers import Servers, chain
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import BOUNDARY, Section

BACKEND = "backend"
PREFIX = "shape-"
DIGITS = 16


@dataclass(frozen=True)
class Shape:
    """`lines` are its words, without the header's."""

    lines: tuple[tuple[str, ...], ...]

    @property
    def name(self) -> str:
        text = "\n".join(map("\0".join, self.lines))
        return PREFIX + hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:DIGITS]

    def section(self, file: str) -> Section:
        text = "".join(f"    {' '.join(words)}\n" for words in self.lines)
        return Section(DEFAULTS, self.name, f"{DEFAULTS} {self.name}\n{text}\n", file=file)


class Shapes:
    """Reads the shapes of backends. `said` are the keywords that `add backend` takes."""

    def __init__(self, said: Collection[str], language: Grammar | None = None) -> None:
        language = language or grammar()
        self._servers, editor, self._said = Servers(language), Editor(language), said
        self._backend, self._defaults = editor.shape(resources()["backends"]), editor.shape(resources()["defaults"])
        children = [language.line(resource.schema) for _, resource in resources().children("defaults")]
        self._children = {prefix for shape in children for prefix in shape.prefixes()}

    def of(self, section: Section, above: Sequence[Section]) -> Shape | None:
        """Returns the shape of a backend and of the sections it inherits from, nearest first; None if one of its lines may not stand in a
        defaults section, or could change its meaning after an inherited one.
        """
        own = self._own(section)
        levels = [*(_lines(section_) for section_ in reversed(above)), own]
        if any(map(has_conditionals, (section, *above))) or any(self._key(line) is None for line in own):
            return None
        named = Counter(key for level in levels for key in set(map(self._key, level)) if not self._last_counts(key))
        if any(count > 1 for count in named.values()):
            return None
        return Shape(tuple(line.words for level in levels for line in level))

    def is_wanted(self, section: Section, above: Sequence[Section]) -> bool:
        """True for a backend that HAProxy adds only with a shape: with lines that are not inherited, or from a section without a name."""
        if not above or not above[0].name:
            return bool(above)
        return any(not repeats(line, section, above, self._backend) for line in self._own(section))

    def provided(self, document: Document, most: int, without: Collection[str] = ()) -> Document:
        """The document with the shapes of its backends in their file, the most frequent first, `most` at most; those that no backend
        has any more stay while there is room. The same one where nothing changes, and where it has no such file.
        """
        start = next((section_ for section_ in document.sections if is_shape(section_) and section_.kind == BOUNDARY), None)
        if start is None or start.file is None:
            return document
        there = {shape.name: shape for shape in shapes_of(document)}
        counts = Counter(shape for shape in self._all(document) if shape.name not in without)
        wanted = {shape.name: shape.section(start.file) for shape, _ in counts.most_common(most)}
        spare = [name for name in there if name not in wanted and name not in without][: most - len(wanted)]
        new = [section for name, section in there.items() if name in wanted or name in spare]
        new += [section for name, section in wanted.items() if name not in there]
        if [shape.name for shape in new] == list(there):
            return document
        left = [section for section in document.sections if not is_shape(section)]
        return Document(document.preamble, (*left, start, *new), document.leads)

    def _all(self, document: Document) -> Iterator[Shape]:
        for section, source in zip(document.sections, all_sources(document), strict=True):
            if section.kind == BACKEND:
                above = list(chain(document, source))
                if self.is_wanted(section, above) and (shape := self.of(section, above)):
                    yield shape

    def identity(self, section: Section) -> list[tuple[int, tuple[str, ...]]]:
        """What distinguishes a backend from all others and is sent when it is added: the words of each line, with its place."""
        lines = [(place, line) for place, line in enumerate(section.lines) if place and line.words]
        return [(place, line.words) for place, line in lines if self._is_identity(line)]

    def _is_identity(self, line: Line) -> bool:
        return line.words[0] in self._said and self._key(line) is None

    def _own(self, section: Section) -> list[Line]:
        """The lines that a shape would have to say: all but those of servers, and what tells one backend from all others."""
        lines = [line for line in _lines(section) if not (self._servers.is_server(line) or self._servers.is_default(line))]
        return [line for line in lines if not self._is_identity(line)]

    def _key(self, line: Line) -> Hashable | None:
        """What the line sets; None where nothing here says that a defaults section may."""
        prefix = next((line.words[:size] for size in (1, 2) if line.words[:size] in self._children), None)
        return prefix or self._defaults.directive_of(line)

    def _last_counts(self, key: Hashable) -> bool:
        return isinstance(key, int) and self._defaults.directives[key].last_counts


def _lines(section: Section) -> list[Line]:
    return [line for line in section.lines[1:] if line.words]
