"""Find the words of a configuration that refer to an object, and the words that define the object."""

import functools
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from typing import Protocol

from haproxy_native.editing.defaults_sections import DEFAULTS, all_implicit_defaults, named_defaults
from haproxy_native.editing.object_names import kind_of, parsed, spelled
from haproxy_native.editing.resources import resources
from haproxy_native.errors import BadRequest, NotFound
from haproxy_native.references.kinds import Kind, kinds, tables
from haproxy_native.references.pattern import (
    NAME,
    PARENT,
    CallPattern,
    ConditionPattern,
    CriterionPattern,
    Pattern,
    Span,
    Word,
    up_to_condition,
    words_of,
)
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted

TABLE = "stick_table"
_QUOTES = re.compile(r"[\"'\\]")
# The forms of references.
DEFINITION, HEADER, LINE, ARGUMENT = "definition", "header", "line", "argument"
PATTERN, CONDITION, STICK_TABLE, IMPLICIT = "pattern", "condition", "stick table", "implicit"


@dataclass(frozen=True)
class ReferenceTarget:
    """The object whose references are searched for."""

    kind: Kind
    name: str
    # Keyword and name of the section that is the object or contains it.
    section: tuple[str, str]
    # Whether to search for references to the object's stick table only.
    only_table: bool = False

    @property
    def object(self) -> str:
        first, _, child = self.kind.name.partition("/")
        above, name = _as_addressed(self.section[1]), _as_addressed(self.name)
        return spelled(first, above, child, name) if child else spelled(first, name)

    @property
    def is_section(self) -> bool:
        return "/" not in self.kind.name


@dataclass(frozen=True)
class Spot:
    """A word or a line of the configuration that refers to an object, or defines the object."""

    # Indices of the section, and of the line in it.
    section_index: int
    line: int
    # None if the line refers to the object without naming it in a word.
    span: Span | None
    how: str
    # The text that replaces the span in a renaming, with `<>` for the new name.
    form: str = NAME


class Finder(Protocol):
    def spans(self, words: Sequence[Word]) -> Iterator[Span]: ...


Finders = list[tuple[str, Finder]]


@functools.cache
def section_kinds() -> dict[str, str]:
    """Map each kind of object that is a section, such as `peer_section`, to the keyword of the section, such as `peers`."""
    return {
        kind_of(resource): resource.section
        for resource in resources().by_name.values()
        if resource.section and not resource.parents and not resource.file
    }


def _as_addressed(name: str) -> str:
    """Return the name by which the API addresses an object: a name with an environment variable is quoted, as in the file."""
    return f'"{name}"' if "$" in name else name


def find_target(document: Document, object_: str) -> ReferenceTarget:
    """Return the target for an object name, such as `backend/shop`.

    Raises NotFound if the object does not exist, and BadRequest if lines cannot refer to objects of its kind.
    """
    parts = tuple(map(unquoted, parsed(object_)))
    if is_table := parts[0] == TABLE and len(parts) == 2:
        parts = _path_of_table(document, parts[1])
    kind = kinds().get("/".join(parts[::2]))
    if kind is None or len(parts) % 2:
        raise BadRequest(
            f"{object_[:100]!r} has no references; the kinds of objects with references are {', '.join(kinds())}, and stored files"
        )
    section = (section_kinds()[parts[0]], parts[1])
    target = ReferenceTarget(kind, parts[-1], section, only_table=is_table and len(parts) == 2)
    if not any(definitions(document, target)):
        names = dict.fromkeys(name for name, _ in _named_definitions(document, target, None))
        close = get_close_matches(target.name[:100], names, 1, 0.5)
        suggestion = f"; the nearest is {replace(target, name=close[0]).object}" if close else ""
        raise NotFound(f"{object_[:100]} does not exist{suggestion}")
    return target


def _path_of_table(document: Document, name: str) -> tuple[str, ...]:
    """Return the path of the object that defines a stick table, as alternating kinds and names. Raises NotFound.

    `name`: the name of the table in lines. For `shop`, the result is `("backend", "shop")`. For `mypeers/t1`, the result is
    `("peer_section", "mypeers", "table", "t1")`.
    """
    peers, _, table = name.partition("/")
    if table:
        return ("peer_section", peers, "table", table)
    for kind, word in section_kinds().items():
        section = document.find(word, name)
        if section and kind in kinds() and _has_table(kinds()[kind], section):
            return (kind, name)
    raise NotFound(f"stick_table/{name[:100]} does not exist: no proxy of that name has a stick-table line")


def _has_table(kind: Kind, section: Section) -> bool:
    words = {kind_.holds for kind_ in kinds_of(kind)} - {""}
    return any(line.args and line.args[0] in words for line in section.lines)


def kinds_of(kind: Kind) -> list[Kind]:
    """Return all kinds that the objects of a kind belong to: the kind itself, and those that `is` in references.yaml lists."""
    return [kind, *(kinds()[name] for name in kind.also)]


def definitions(document: Document, target: ReferenceTarget) -> Iterator[Spot]:
    """Yield the places where the document defines the object of `target`."""
    return (spot for _, spot in _named_definitions(document, target, target.name))


def _named_definitions(document: Document, target: ReferenceTarget, name: str | None) -> Iterator[tuple[str, Spot]]:
    """Yield (name, definition) for the objects of the kind of `target`. For a kind inside sections, search only the section of `target`.

    `name`: yield only objects with this name; None for all names.
    """
    patterns = [Pattern(text, name) for text in target.kind.defined]
    for section_index, (section, known) in enumerate(zip(document.sections, document.names(), strict=True)):
        if section.kind != target.section[0]:
            continue
        if target.is_section and name in (None, unquoted(known)):
            words = words_of(section.header)
            if section.name and len(words) > 1:
                yield unquoted(known), Spot(section_index, 0, words[1].span(0, len(words[1].value)), DEFINITION)
            else:
                end = words[0].start + len(words[0].raw)
                yield unquoted(known), Spot(section_index, 0, Span(end, end), DEFINITION, f" {NAME}")
        elif not target.is_section and unquoted(known) == target.section[1] and (name is None or may_name(section.text, name)):
            for number, line in enumerate(section.lines[1:], 1):
                words = words_of(line)
                for span in (span for pattern in patterns for span in pattern.spans(words)):
                    yield line.text[span.start : span.end], Spot(section_index, number, span, DEFINITION)


def objects(document: Document) -> list[ReferenceTarget]:
    """Return all objects of the document that lines can refer to, sorted by kind."""
    words, targets = section_kinds(), dict[ReferenceTarget, None]()
    for kind in kinds().values():
        word = words[kind.name.partition("/")[0]]
        for section in dict.fromkeys(unquoted(name) for name, _ in document.of_kind(word)):
            target = ReferenceTarget(kind, section, (word, section))
            if target.is_section:
                targets[target] = None
            else:
                targets |= {replace(target, name=unquoted(name)): None for name, _ in _named_definitions(document, target, None)}
    return list(targets)


def spots(document: Document, target: ReferenceTarget) -> Iterator[Spot]:
    """Yield the references to the object of `target`, from the top of the document to its end, without the definitions of the object."""
    finders = _Finders(document, target)
    made = {(spot.section_index, spot.line, spot.span) for spot in definitions(document, target)}
    implied = all_implicit_defaults(document) if target.section[0] == DEFAULTS and target.is_section else None
    for section_index, section in enumerate(document.sections):
        if section.kind == BOUNDARY:
            continue
        if implied and implied[section_index] == target.name and named_defaults(section) is None:
            yield Spot(section_index, 0, None, IMPLICIT)
        if may_name(section.text, target.name):
            for number, line in enumerate(section.lines):
                matches = (
                    finders.of_line(section, document.names()[section_index], number, line) if may_name(line.text, target.name) else ()
                )
                for span, how in sorted(dict(matches).items()):
                    if (section_index, number, span) not in made:
                        yield Spot(section_index, number, span, how)


def may_name(text: str, name: str) -> bool:
    """Return whether a text may contain a name, quoted or not. This test is faster than parsing the text."""
    return name in text or ("$" in name and "$" in text) or (_QUOTES.search(text) is not None and name in _QUOTES.sub("", text))


class _Finders:
    """The patterns that find references to one object, grouped by the lines to which they apply."""

    def __init__(self, document: Document, target: ReferenceTarget) -> None:
        kind, name, values = target.kind, target.name, {PARENT: target.section[1]}
        every = kinds_of(kind)
        self._target, self._tables = target, tables().sections

        def make(how: str, pattern: Callable[[str, str, Mapping[str, str]], Finder], texts: Iterable[str]) -> Finders:
            return [(how, pattern(text, name, values)) for text in texts]

        def words(member: str) -> list[str]:
            return [text for kind_ in every for text in getattr(kind_, member)]

        self._headers = make(HEADER, Pattern, words("headers"))
        self._lines = make(LINE, Pattern, words("lines"))
        self._here = make(LINE, Pattern, words("here"))
        self._calls = [*make(ARGUMENT, CallPattern, words("arguments")), *make(PATTERN, CriterionPattern, words("criteria"))]
        self._calls_here = [*make(ARGUMENT, CallPattern, words("arguments_here")), *make(PATTERN, CriterionPattern, words("criteria_here"))]
        self._conditions: Finders = [(CONDITION, ConditionPattern(name))] if kind.conditions else []
        self._table_lines: Finders = []
        self._table_calls: Finders = []
        # The form of the name of the object's stick table; empty if objects of this kind have no table.
        table_name = next((kind_.table for kind_ in every if kind_.table), "")
        section = next((each for title, each in document.of_kind(target.section[0]) if unquoted(title) == target.section[1]), None)
        needs_line = any(kind_.holds for kind_ in every)
        if table_name and section is not None and (not needs_line or _has_table(kind, section)):
            self._table_lines = make(STICK_TABLE, Pattern, [text.replace("<>", table_name) for text in tables().lines])
            self._table_calls = make(STICK_TABLE, CallPattern, [text.replace("<>", table_name) for text in tables().arguments])
        if target.only_table:
            self._headers, self._lines, self._calls = [], [], []

    def of_line(self, section: Section, name: str, number: int, line: Line) -> Iterator[tuple[Span, str]]:
        words = words_of(line)
        if number == 0:
            yield from _found(self._headers, words)
            return
        plain, is_here = up_to_condition(words), (section.kind, unquoted(name)) == self._target.section
        yield from _found([*self._lines, *(self._here if is_here else ())], plain)
        yield from _found(self._calls, words)
        if section.kind in self._tables:
            yield from _found(self._table_lines, plain)
            yield from _found(self._table_calls, words)
        if is_here:
            yield from _found([*self._calls_here, *self._conditions], words)


def _found(finders: Iterable[tuple[str, Finder]], words: Sequence[Word]) -> Iterator[tuple[Span, str]]:
    for how, finder in finders:
        for span in finder.spans(words):
            yield span, how
