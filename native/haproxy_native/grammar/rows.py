"""Change a list of lines to a new list of elements, one line for each element.

Each new element is matched with an old line: first with an equal line, wherever it is, then with the most similar one. The matched line is
edited or moved instead of replaced, so that it keeps its comments and its spelling.
"""

import json
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import chain
from typing import Any

from haproxy_native.grammar.line_shape import METADATA, LineShape, read_metadata
from haproxy_native.text import line_diff
from haproxy_native.text.line import Line
from haproxy_native.text.section import Section

# (index in the section, line) of the lines of one directive.
Found = Sequence[tuple[int, Line]]
Row = Mapping[str, Any]

# The maximum number of pairs of lines whose similarity is computed, which takes some ten milliseconds.
_MOST_PAIRS = 1 << 14
# The least similarity at which an old line and a new element at another place are treated as the same line, edited and moved.
_SIMILAR = 0.7


@dataclass
class LineEdits:
    """Changes to the lines of a section."""

    # By index; None deletes the line.
    replaced: dict[int, Line | None]
    # (index of the line before it, new line). None: `SectionShape` determines the index.
    added: list[tuple[int | None, Line]]


def change_rows(shape: LineShape, lines: Found, elements: Sequence[Row], section: Section) -> LineEdits:
    """Return the edits that turn `lines` into one line for each element of `elements`.

    If a line moves, the comments directly above the line move with it.
    """
    made = [shape.new(row, section.indent, section.newline) for row in elements]
    if not lines:
        return LineEdits({}, [(None, line) for line in made])
    rows = _Rows(shape, [line for _, line in lines], made, elements)
    staying, moving = rows.match_lines()
    kept = set(staying.values())
    change = LineEdits({place: None for number, (place, _) in enumerate(lines) if number not in kept}, [])
    # For each element, the index of the next line that stays at its place; None if there is none.
    following: list[int | None] = [None] * len(made)
    for at in range(len(made) - 2, -1, -1):
        following[at] = lines[staying[at + 1]][0] if at + 1 in staying else following[at + 1]
    previous = behind = None
    for at, line in enumerate(made):
        if at in staying:
            (previous, old), behind = lines[staying[at]], None
            if (edited := rows.edited(staying[at], at)) is not old:
                change.replaced[previous] = edited
            continue
        behind = section.between(previous, following[at]) if behind is None else behind
        if at in moving:
            above = section.comments_above(lines[moving[at]][0])
            change.replaced |= dict.fromkeys(above)
            change.added += [(behind, section.lines[place]) for place in above]
            line = rows.edited(moving[at], at)
        change.added.append((behind, line))
    return change


class _Rows:
    """Matches old lines with new elements. Matches are returned as {index of the element: index of the line}."""

    def __init__(self, shape: LineShape, lines: Sequence[Line], made: Sequence[Line], elements: Sequence[Row]) -> None:
        self.shape, self.lines, self.made, self.elements = shape, lines, made, elements
        # The members of each line except its metadata, as canonical JSON, so that they can be compared.
        self.old, self.new = (
            [canonical({name: value for name, value in (shape.read(line) or {}).items() if name != METADATA}) for line in each]
            for each in (lines, made)
        )
        self._words = [frozenset(line.words) for line in lines], [frozenset(line.words) for line in made]

    def edited(self, old: int, new: int) -> Line:
        """Return an old line with the values of a new element. If the values are equal, only the metadata is written."""
        edit = self.shape.with_metadata if self.old[old] == self.new[new] else self.shape.onto
        return edit(self.lines[old], self.elements[new])

    def match_lines(self) -> tuple[dict[int, int], dict[int, int]]:
        """Return (matches whose line does not move, matches whose line moves)."""
        staying, stretches = dict[int, int](), []
        for is_equal, a, b, c, d in _compare(self.old, self.new):
            if is_equal:
                staying |= zip(range(c, d), range(a, b), strict=True)
            else:
                stretches.append((range(a, b), range(c, d)))
        # Match lines with equal elements, whatever their order.
        equal_lines: dict[str, list[int]] = {}
        for number in chain.from_iterable(old for old, _ in stretches):
            equal_lines.setdefault(self.old[number], []).append(number)
        moving: dict[int, int] = {}
        for number in chain.from_iterable(new for _, new in stretches):
            if lines := equal_lines.get(self.new[number]):
                moving[number] = lines.pop(0)
        taken = set(moving.values())
        for old, new in stretches:
            staying |= self._match_in_order([each for each in old if each not in taken], [each for each in new if each not in moving])
        taken |= set(staying.values())
        removed = [each for old, _ in stretches for each in old if each not in taken]
        return staying, moving | self._match_in_any_order(
            removed, [each for _, new in stretches for each in new if each not in moving | staying]
        )

    def _match_in_any_order(self, old: Sequence[int], new: Sequence[int]) -> dict[int, int]:
        """Match lines with similar elements, whatever their order, beginning with the most similar pair.

        Return no matches if there are too many pairs to compare.
        """
        pairs, taken = dict[int, int](), set[int]()
        if len(old) * len(new) > _MOST_PAIRS:
            return pairs
        for similarity, one, other in sorted((-self._similarity(one, other), one, other) for one in old for other in new):
            if -similarity >= _SIMILAR and one not in taken and other not in pairs:
                pairs[other] = one
                taken.add(one)
        return pairs

    def _match_in_order(self, old: Sequence[int], new: Sequence[int]) -> Iterator[tuple[int, int]]:
        """Match lines with elements in order, so that the total similarity is greatest. Yield (index of the element, index of the line).

        If there are too many pairs to compare, match the first line with the first element, and so on.
        """
        if len(old) == len(new) == 1 or len(old) * len(new) > _MOST_PAIRS:
            yield from zip(new, old, strict=False)
            return
        best = [[0.0] * (len(new) + 1) for _ in range(len(old) + 1)]
        for i in reversed(range(len(old))):
            for j in reversed(range(len(new))):
                best[i][j] = max(best[i + 1][j + 1] + self._similarity(old[i], new[j]), best[i + 1][j], best[i][j + 1])
        i = j = 0
        while i < len(old) and j < len(new):
            if best[i][j] == best[i + 1][j + 1] + self._similarity(old[i], new[j]):
                yield new[j], old[i]
                i, j = i + 1, j + 1
            elif best[i][j] == best[i + 1][j]:
                i += 1
            else:
                j += 1

    def _similarity(self, old: int, new: int) -> float:
        """Return the share of words that a line and an element have in common, from 0 to 1, plus 1 if they have equal metadata."""
        one, other = self._words[0][old], self._words[1][new]
        metadata = self.elements[new].get(METADATA)
        same = bool(metadata) and metadata == read_metadata(self.lines[old].comment)
        return 2 * len(one & other) / (len(one) + len(other)) + same


def _compare(old: Sequence[Hashable], new: Sequence[Hashable]) -> Iterator[tuple[bool, int, int, int, int]]:
    """Yield (is equal, start in `old`, end in `old`, start in `new`, end in `new`) of each range of two sequences, in order."""
    if len(old) * len(new) <= line_diff.MOST_PAIRS:
        for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
            yield kind == "equal", a, b, c, d
        return
    at = new_at = 0
    for (a, b), (c, d) in line_diff.changes(old, new):
        yield True, at, a, new_at, c
        yield False, a, b, c, d
        at, new_at = b, d
    yield True, at, len(old), new_at, len(new)


def canonical(value: Any) -> str:
    return json.dumps(value, sort_keys=True)
