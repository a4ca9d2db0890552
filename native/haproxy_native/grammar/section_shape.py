"""Read the header and the lines of a section as an object, and convert edits of the object to edits of lines (`SectionShape`)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from haproxy_native.grammar.directive import CANCELLING, NOTHING, Directive
from haproxy_native.grammar.line_shape import METADATA, LineShape
from haproxy_native.grammar.rows import LineEdits, canonical
from haproxy_native.grammar.schema import Order, arrange
from haproxy_native.grammar.synopsis import Values
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section
from haproxy_native.text.words import normalized


@dataclass
class ListAlias:
    """A deprecated member whose value is the first element of the list member `target`."""

    member: str
    target: str


@dataclass
class Default:
    """A default value that the schema declares. A new object gets the value; an existing object gets it only if the member was removed."""

    path: tuple[str, ...]
    member: str
    value: Any


@dataclass
class SectionReading:
    """The lines of a section by directive, and the object that they express, which is computed on first use."""

    shape: "SectionShape"
    header: Line
    # By the index of the directive: (index in the section, line).
    lines: dict[int, list[tuple[int, Line]]]

    @cached_property
    def values(self) -> dict[str, Any]:
        return self.shape.object_of(self.header, self.lines)


class SectionShape:
    """The syntax of one kind of section. `header` reads its first line; `order` lists the members of its objects in their order."""

    def __init__(
        self,
        kind: str,
        header: LineShape,
        directives: Sequence[Directive],
        order: Sequence[str],
        list_aliases: Sequence[ListAlias] = (),
        defaults: Sequence[Default] = (),
        inner: Order | None = None,
    ) -> None:
        self.kind, self.header, self.directives, self.order = kind, header, tuple(directives), tuple(order)
        self.list_aliases, self.defaults, self.inner = tuple(list_aliases), tuple(defaults), inner or {}
        self._index: dict[tuple[str, ...], list[int]] = {}
        for number, directive in enumerate(directives):
            for prefix in directive.shape.prefixes():
                self._index.setdefault(prefix, []).append(number)
        self._longest = max((len(prefix) for prefix in self._index), default=0)

    # -- reading

    def directive_of(self, line: Line) -> int | None:
        """Return the index of the directive that a line belongs to; None if it belongs to no directive."""
        number = self._directive_of(line.words, line.args)
        if number is None and len(line.args) > 1 and line.args[0] in CANCELLING:
            number = self._directive_of(line.words[1:], line.args[1:])
            return number if number is not None and self.directives[number].cancels(line) else None
        return number

    def _directive_of(self, words: tuple[str, ...], args: tuple[str, ...]) -> int | None:
        fallback = None
        for size in range(min(self._longest, len(words)), 0, -1):
            for number in self._index.get(args[:size], ()):
                reading = self.directives[number].shape.parse_words(words)
                if reading is None:
                    continue
                if not reading.unknown:
                    return number
                fallback = number if fallback is None else fallback
        return fallback

    def reading(self, section: Section) -> SectionReading:
        """Return the lines of a section by directive. The result is cached in the section."""
        known: SectionReading | None = section.cache.get(self)
        if known is None:
            lines: dict[int, list[tuple[int, Line]]] = {}
            hidden = section.snippets
            for place, line in enumerate(section.lines[1:], 1):
                if line.words and place not in hidden and (number := self.directive_of(line)) is not None:
                    lines.setdefault(number, []).append((place, line))
            known = section.cache[self] = SectionReading(self, section.header, lines)
        return known

    def object_of(self, header: Line, lines: Mapping[int, Sequence[tuple[int, Line]]]) -> dict[str, Any]:
        """Return the object that a header and the lines of each directive express."""
        values: dict[str, Any] = dict(self.header.read(header) or {})
        for number in sorted(lines):
            directive = self.directives[number]
            if members := directive.read(lines[number]):
                holder = values
                for name in directive.path:
                    holder = holder.setdefault(name, {})
                holder |= members
        for alias in self.list_aliases:
            if values.get(alias.target):
                values[alias.member] = values[alias.target][0]
        return {name: arrange(values[name], self.inner.get(name, {})) for name in self.order if name in values}

    def read(self, section: Section) -> dict[str, Any]:
        """Return the object that a section expresses. The caller must not change it."""
        return self.reading(section).values

    # -- writing

    def onto(self, section: Section, values: Mapping[str, Any], *, whole: bool = True) -> Section:
        """Return a section with new values. Lines whose members did not change are kept.

        `whole`: whether the values are complete. If not, an older client may have sent them, which does not know some members
        (`Directive.addition`). The lines of such members are kept.
        """
        reading = self.reading(section)
        new = self._with_defaults(self._without_aliases(values, reading.values), reading.values)
        read_lines = sorted(index for lines in reading.lines.values() for index, _ in lines)
        edits = LineEdits({0: section.header}, [])
        for number, directive in enumerate(self.directives):
            lines = reading.lines.get(number, ())
            holder = directive.without_stale_aliases(holder_of(new, directive.path), lines)
            if (holder is NOTHING and not lines) or self._expresses(directive, lines, holder):
                continue
            if not whole and directive.may_be_unknown(holder):
                continue
            change = directive.change(lines, holder, section)
            edits.replaced |= change.replaced
            for index, line in change.added:
                if index is None:
                    index = self._insertion_index(section, line, read_lines, directive.ahead_of)
                edits.added.append((index, line))
        # If the header cannot be parsed, only its name is compared.
        header = self.header.read(section.header) or {"name": section.name}
        if any((header.get(name) or None) != (values.get(name) or None) for name in (*self.header.members, METADATA)):
            edits.replaced[0] = self.header.onto(section.header, values)
        return apply_edits(section, edits)

    def _expresses(self, directive: Directive, lines: Sequence[tuple[int, Line]], holder: Mapping[str, Any]) -> bool:
        """Return whether the lines of a directive already express the values of the object `holder`."""
        if not lines:
            return not directive.needs_line(holder)
        written = directive.read(lines)
        if directive.shape.metadata and not directive.rows and (written.get(METADATA) or None) != (holder.get(METADATA) or None):
            return False
        return canonical(directive.values_to_write(written)) == canonical(directive.values_to_write(holder))

    def _insertion_index(self, section: Section, line: Line, read_lines: Sequence[int], ahead_of: Sequence[str]) -> int:
        """Return the index of the line below which to insert the new line `line`: the last of `read_lines` with the same first word.

        If there is no such line, choose the last of `read_lines` above all lines whose first word is in `ahead_of`, or else the header. If
        the chosen line is in a conditional block or snippet, return the index of the last line of that block or snippet.
        """
        similar = [index for index in read_lines if section.lines[index].args[:1] == line.args[:1]]
        end = next((index for index, other in enumerate(section.lines) if other.args and other.args[0] in ahead_of), len(section.lines))
        return section.outside_blocks((similar or [index for index in read_lines if index < end] or [0])[-1])

    def new(self, values: Mapping[str, Any], indent: str = "  ", newline: str = "\n") -> Section:
        """Return a new section with the header and the lines of an object, without its children."""
        header = self.header.new(values, "", newline)
        name = normalized(header.words[1]) if values.get("name") else ""
        bare = Section(self.kind, name, lines=[header], usual_indent=indent)
        all_values = self._with_defaults(self._without_aliases(values, {}), None)
        lines = [bare.header]
        for directive in self.directives:
            holder = holder_of(all_values, directive.path)
            # Skip the other directives early, since most sections have few of the members.
            if holder is not NOTHING and (directive.options or directive.is_about(holder)):
                lines += [line for _, line in directive.change((), holder, bare).added]
        return bare.with_lines(lines)

    def _with_defaults(self, values: Mapping[str, Any], old: Mapping[str, Any] | None) -> Mapping[str, Any]:
        """Add defaults of the schema to the values of an object.

        A new object (`old` is None) gets all defaults. An existing object gets only the defaults of members that were removed, and of the
        members of new inner objects.
        """
        for default in self.defaults:
            holder = holder_of(values, default.path)
            before = NOTHING if old is None else holder_of(old, default.path)
            if holder is not NOTHING and holder.get(default.member) is None and (before is NOTHING or default.member in before):
                values = with_member(values, (*default.path, default.member), default.value)
        return values

    def _without_aliases(self, values: Mapping[str, Any], old: Mapping[str, Any]) -> Mapping[str, Any]:
        """Return the values with each deprecated member merged into its list (`ListAlias`), unless the list itself differs from `old`."""
        left: Values = dict(values)
        for alias in self.list_aliases:
            first, stored = left.pop(alias.member, None), old.get(alias.target) or []
            if first and stored and first != stored[0] and left.get(alias.target) == stored:
                left[alias.target] = [first, *stored[1:]]
            elif first and not left.get(alias.target):
                left[alias.target] = [first, *(value for value in stored if value != first)]
        return left


def apply_edits(section: Section, change: LineEdits) -> Section:
    """Apply edits to a section; return the same section if nothing changes. Each added line must have an index."""
    if not change.added and all(section.lines[place] is line for place, line in change.replaced.items()):
        return section
    added: dict[int | None, list[Line]] = {}
    for where, new in change.added:
        added.setdefault(where, []).append(new)
    result: list[Line] = []
    for place, line in enumerate(section.lines):
        replacement = change.replaced.get(place, line)
        if replacement is not None:
            result.append(replacement)
        result += added.get(place, ())
    edited = [place for place, line in change.replaced.items() if line is not section.lines[place]]
    behind = [where + 1 for where in added if where is not None]
    shared = min([*edited, *behind]), len(section.lines) - max([*behind, *(place + 1 for place in edited)])
    return section.with_lines(result, shared=shared)


def holder_of(values: Mapping[str, Any], path: Sequence[str]) -> Mapping[str, Any]:
    for name in path:
        inner = values.get(name)
        values = inner if isinstance(inner, Mapping) else NOTHING
    return values


def with_member(values: Mapping[str, Any], path: Sequence[str], value: Any) -> Mapping[str, Any]:
    """Return the values with the value at a path replaced. All objects on the path must exist."""
    first, *inner = path
    return {**values, first: with_member(values[first], inner, value) if inner else value}
