"""Read and write one kind of line in a section as members of the section's object (`Directive`)."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import zip_longest
from types import MappingProxyType
from typing import Any

from haproxy_native.errors import BadValue, Place
from haproxy_native.grammar.line_shape import METADATA, LineShape
from haproxy_native.grammar.rows import Found, LineEdits, change_rows
from haproxy_native.grammar.synopsis import Join, Values
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section

CANCELLING = ("no", "default")
# The value of an absent object, as opposed to an empty one.
NOTHING: Mapping[str, Any] = MappingProxyType({})

ANY = Join(" || ")


def _condition(members: Collection[str]) -> tuple[str, str] | None:
    """Return the names of the two members of a condition, such as (cond, cond_test); None if `members` lacks one of them."""
    test = next((name for name in members if name.endswith("cond_test")), "")
    cond = test.removesuffix("_test")
    return (cond, test) if test and cond in members else None


@dataclass
class Directive:
    """A kind of line in a section. Reads lines of this kind as members of the section's object, and writes these members to lines."""

    # The path, in the section's object, to the object that has the members.
    path: tuple[str, ...]
    shape: LineShape
    # What a second such line does:
    #   last     it takes precedence
    #   append   it adds an element
    #   merge    it adds members
    #   join     it adds to the value of the only member
    #   any      it adds an alternative to the condition
    #   keep     both lines are in effect, but the API shows and edits only the last one
    repeat: str = "last"
    join: Join | None = None
    # The list member of which each line is one element.
    rows: str = ""
    scalar: bool = False
    # The values, by member, that no line expresses.
    unwritten: Mapping[str, tuple[Any, ...]] | None = None
    # A member that all others require.
    needed: str = ""
    # Whether the object is a list of options, and may be empty.
    options: bool = False
    # The first words of lines before which a new line must be inserted.
    ahead_of: Sequence[str] = ()
    # Whether the member is an addition that older clients do not know.
    addition: bool = False
    # The kind of object that HAProxy cannot delete at runtime because of the line; empty if there is none.
    keeps: str = ""
    # Whether a line of the section takes precedence over an inherited one.
    last_counts: bool = False

    # -- reading

    def read(self, lines: Found) -> Values:
        """Return the members that the lines express, for the object at `path`."""
        if self.rows:
            elements = [self.shape.read(line) or {} for _, line in lines]
            return {self.rows: [element.get(self.rows) for element in elements] if self.scalar else elements}
        if self.join:
            (name,) = self.shape.members
            chunks = self._values_of_lines(lines, name)
            return {name: self.join.joined(chunks)} if chunks else {}
        if self.repeat == "any" and (joinable := self._values_to_join(lines)):
            last = joinable[-1]
            names = _condition(last)
            assert names
            return {**last, names[1]: ANY.joined([each[names[1]] for each in joinable])}
        values: Values = {}
        for _, line in lines if self.repeat == "merge" else self._lines_in_effect(lines):
            values = self.shape.added(values, self.shape.read(line) or {})
        return values

    def _lines_in_effect(self, lines: Found) -> Found:
        """Return a list with the line that is in effect: the last line that sets a value. Empty if a later line cancels that line."""
        in_effect: Found = ()
        for place, line in lines:
            if not self.cancels(line):
                in_effect = [(place, line)]
            elif in_effect and self._is_cancelled(in_effect[0][1], line):
                in_effect = ()
        return in_effect

    def cancels(self, line: Line) -> bool:
        """Return whether a line only cancels earlier lines, such as `no option httpclose` or `default option abortonclose`."""
        if self.repeat != "last" or self.rows or line.args[0] not in CANCELLING:
            return False
        return self.shape.parse_words(line.words) is None and self.shape.parse_words(line.words[1:]) is not None

    def _is_cancelled(self, line: Line, cancelling: Line) -> bool:
        """Return whether `line` is cancelled by the line `cancelling`. A `no` cancels only a line with the same value."""
        own, cancelled = self.shape.parse_words(line.words), self.shape.parse_words(cancelling.words[1:])
        if cancelling.args[0] == "default" or own is None or cancelled is None:
            return True
        return cancelled.values.items() <= own.values.items()

    def _values_of_lines(self, lines: Found, name: str) -> list[Any]:
        """Return the values that the lines give the member `name`. Lines without the member are skipped."""
        return [reading[name] for _, line in lines if name in (reading := self.shape.read(line) or {})]

    # -- writing

    def values_to_write(self, holder: Mapping[str, Any]) -> Any:
        """Return the values of `holder` that lines must express: with `rows`, a list of elements, or else flat values. Raises BadValue."""
        if self.rows:
            rows = holder.get(self.rows) or []
            return [{self.rows: row} if self.scalar else row for row in rows]
        own = self.shape.flatten_body({name: holder[name] for name in self.shape.members if name in holder})
        if self.needed and own and self.needed not in own:
            detail = f"attribute not found: {self.needed} in body is required with {next(iter(own))}"
            raise BadValue(detail, place=Place(member=self.needed))
        if self.unwritten and any(own.get(name) in values for name, values in self.unwritten.items()):
            return {}
        return own

    def without_stale_aliases(self, holder: Any, lines: Found) -> Any:
        """Return `holder` without stale aliases: if a member has several names, remove the names with the value that `lines` express.

        If all names have that value, none is removed.
        """
        if holder is NOTHING or not lines or self.rows or not self.shape.aliases:
            return holder
        return self.shape.without_stale_aliases(holder, self.read(lines))

    def needs_line(self, holder: Mapping[str, Any]) -> bool:
        """Return whether a line is needed to express the object `holder`. An empty object needs a line only if it is a list of options."""
        return bool(self.values_to_write(holder)) or (self.options and holder is not NOTHING)

    def may_be_unknown(self, holder: Mapping[str, Any]) -> bool:
        """Return whether `holder` may lack the members of this directive because an older client has sent it, which does not know them."""
        return self.addition and not self.is_about(holder)

    def is_about(self, holder: Mapping[str, Any]) -> bool:
        """Return whether `holder` has at least one member of this directive."""
        return any(name in holder for name in ((self.rows,) if self.rows else self.shape.members))

    def change(self, lines: Found, holder: Mapping[str, Any], section: Section) -> LineEdits:
        """Return the edits after which the lines of this directive express the values of `holder`. Raises BadValue."""
        if self.rows:
            return change_rows(self.shape, lines, self.values_to_write(holder), section)
        if not self.needs_line(holder):
            removed: Found = lines
            if not (self.options or self.join or self.repeat == "merge"):
                # The API shows only the last of several lines that are in effect, so only the last is deleted.
                if self.repeat == "keep" or (self.repeat == "any" and not self._values_to_join(lines)):
                    removed = lines[-1:]
                elif not self._lines_in_effect(lines):
                    removed = ()
            return LineEdits({place: None for place, line in removed if not self.cancels(line)}, [])
        own = (*self.shape.members, METADATA) if self.shape.metadata else self.shape.members
        members = {name: holder[name] for name in own if name in holder}
        if not lines:
            return LineEdits({}, [(None, self.shape.new(members, section.indent, section.newline))])
        if self.repeat == "merge" and len(lines) > 1:
            return self._change_merged(lines, members)
        if self.join:
            (name,) = members
            chunks = self.join.chunks(members[name], self._values_of_lines(lines, name))
            return self._spread(lines, [{name: chunk} for chunk in chunks])
        if self.repeat == "any" and (names := _condition(members)) and (values := self._values_to_join(lines)):
            cond, test = names
            tests = ANY.chunks(members[test], [each[test] for each in values]) if members[cond] == "if" else [members[test]]
            return self._spread(lines, [{**members, test: each} for each in tests])
        last = lines[-1][0]
        if not (in_effect := self._lines_in_effect(lines)):
            return LineEdits({}, [(last, self.shape.new(members, section.indent, section.newline))])
        ((place, line),) = in_effect
        edited = self.shape.onto(line, members)
        if edited is not line and any(at > place and self._is_cancelled(edited, other) for at, other in lines):
            return LineEdits({place: None}, [(last, edited)])
        return LineEdits({place: edited}, [])

    def _values_to_join(self, lines: Found) -> list[Values]:
        """Return the values of each line if all lines have a condition with `if`, so that `||` can join the conditions; otherwise []."""
        values = [self.shape.read(line) or {} for _, line in lines]
        return values if all((names := _condition(each)) and each[names[0]] == "if" for each in values) else []

    def _spread(self, lines: Found, values: Sequence[Values]) -> LineEdits:
        """Return the edits that write one element of `values` to each line, and delete the lines for which there is no element."""
        return LineEdits({place: self.shape.onto(line, own) if own else None for (place, line), own in zip_longest(lines, values)}, [])

    def _change_merged(self, lines: Found, members: Mapping[str, Any]) -> LineEdits:
        """Return the edits that write each member to the lines that already have the member, and new members to the last line."""
        members_of_lines = [set(self.shape.read(line) or {}) for _, line in lines]
        new = set(members) - set().union(*members_of_lines)
        chunks = {n: iter(join.chunks(members[n], self._values_of_lines(lines, n))) for n, join in self.shape.joins.items() if n in members}
        replaced: dict[int, Line | None] = {}
        for number, ((place, line), own) in enumerate(zip(lines, members_of_lines, strict=True)):
            names = own | (new if number == len(lines) - 1 else set())
            values = {name: next(chunks[name], None) if name in chunks else members[name] for name in members if name in names}
            replaced[place] = self.shape.onto(line, values) if self.shape.flatten_body(values) else None
        return LineEdits(replaced, [])
