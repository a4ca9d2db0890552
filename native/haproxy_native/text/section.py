"""Represent a section: its header line, its body, and the comment block directly above the header (its lead).

Sections are immutable and shared between documents. So values that are computed from a section are stored in its `cache`.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from haproxy_native.text.line import Line
from haproxy_native.text.pieces import apart, joined, split_lines

CONDITIONALS = (".if", ".elif", ".else", ".endif")
# SNIPPET is in the comments around snippets: lines that other tools write as plain text. SNIPPED are the kinds of sections with snippets.
SNIPPET, SNIPPED = "###_config-snippet_###", ("global", "defaults", "frontend", "backend")
# A key of the cache: the number of open conditional blocks after each line.
DEPTHS = "depths"
# Keys of the cache. _MARK: a token that identifies the section. _ORIGIN: the token of the section that this one was made from, and how many
# lines they share at the start and at the end.
_MARK, _ORIGIN = "mark", "origin"
# The kind of a boundary, which begins another file: its text is a mark and the text before the file's first section.
BOUNDARY = ""


class Section:
    """One section. `name`: the name in the header, without needless quotes; empty if there is none. `file`: None for the main file."""

    __slots__ = ("_lines", "_text", "cache", "file", "kind", "lead", "name", "usual_indent")

    def __init__(
        self,
        kind: str,
        name: str,
        text: str | None = None,
        *,
        lines: Sequence[Line] | None = None,
        lead: str = "",
        file: str | None = None,
        usual_indent: str = "  ",
    ) -> None:
        self.kind, self.name, self.lead, self.file, self.usual_indent = kind, name, lead, file, usual_indent
        self._text = text
        self._lines = tuple(lines) if lines is not None else None
        self.cache: dict[Any, Any] = {}

    @property
    def text(self) -> str:
        """Return the header line and the body, without the comment block above."""
        if self._text is None:
            self._text = joined(line.text for line in self._lines or ())
        return self._text

    @property
    def lines(self) -> tuple[Line, ...]:
        """Return all lines, the header first."""
        if self._lines is None:
            self._lines = tuple(Line(text) for text in split_lines(self.text))
        return self._lines

    @property
    def header(self) -> Line:
        return self.lines[0]

    @property
    def newline(self) -> str:
        return "\r\n" if self.header.text.endswith("\r\n") else "\n"

    @property
    def own_indent(self) -> str | None:
        """Return the indent of the first line with words below the header; None if there is none. Skips lines such as `.if`."""
        return next((line.indent for line in self.lines[1:] if line.args and not line.args[0].startswith(".")), None)

    @property
    def indent(self) -> str:
        """Return the indent for new lines of the section."""
        own = self.own_indent
        return self.usual_indent if own is None else own

    def in_file(self, file: str | None) -> "Section":
        """Return a copy of the section that belongs to `file`."""
        if file == self.file:
            return self
        return self._like(file=file)

    def with_lead(self, lead: str) -> "Section":
        """Return a copy of the section whose comment block above the header is replaced by `lead`."""
        if lead == self.lead:
            return self
        return self._like(lead=lead)

    def with_text(self, text: str) -> "Section":
        """Return a copy of the section with its text replaced."""
        return self._like(text=text)

    def with_lines(self, lines: Iterable[Line], *, name: str | None = None, shared: tuple[int, int] | None = None) -> "Section":
        """Return a copy of the section with its lines replaced. Lines without a line end get one, except the last line.

        `shared`: (number of lines at the start, number of lines at the end) that are the same as in this section; None if unknown.
        """
        lines_, are_ended = list(lines), True
        for i, line in enumerate(lines_[:-1]):
            if not line.text.endswith("\n"):
                lines_[i], are_ended = Line(line.text + self.newline), False
        made = self._like(text=None, lines=lines_, name=self.name if name is None else name)
        if shared and are_ended:
            # A token instead of a reference, which would keep all former sections in memory.
            made.cache[_ORIGIN] = self.cache.setdefault(_MARK, object()), *shared
        return made

    def apart_from(self, other: "Section") -> tuple[slice, slice]:
        """Return (range in this section, range in `other`) of the lines that differ. All lines before and after are equal."""
        mark, begin, end = other.cache.get(_ORIGIN, (None, 0, 0))
        if mark and mark is self.cache.get(_MARK):
            return slice(begin, len(self.lines) - end), slice(begin, len(other.lines) - end)
        if None in (self._lines, other._lines) and self.text == other.text:
            return slice(0, 0), slice(0, 0)
        mine, theirs = apart(self.lines, other.lines)
        # Sections that were parsed separately share no lines, but may have equal ones.
        removed, added = apart([line.text for line in self.lines[mine]], [line.text for line in other.lines[theirs]])
        begin = mine.start
        return slice(begin + removed.start, begin + removed.stop), slice(begin + added.start, begin + added.stop)

    def part(self, places: slice) -> "Section":
        """Return a copy of the section that has only the header and the lines in the range `places`."""
        return self.with_lines((self.header, *self.lines[places]))

    def with_usual_indent(self, indent: str) -> "Section":
        """Return a copy of the section in which new lines have the indent `indent`, unless existing lines below the header have another."""
        return self._like(usual_indent=indent)

    def _like(self, **changed: Any) -> "Section":
        own = {"name": self.name, "lead": self.lead, "file": self.file, "usual_indent": self.usual_indent}
        return Section(self.kind, **({"text": self.text} if "text" not in changed else {}) | own | changed)

    @property
    def snippets(self) -> frozenset[int]:
        """Return the indices of the lines in snippets, and of the comments around them. The API treats these lines as plain text."""
        if self.kind not in SNIPPED:
            return frozenset()
        cached: frozenset[int] | None = self.cache.get(SNIPPET)
        if cached is not None:
            return cached
        indices: set[int] = set()
        if SNIPPET in self.text:
            inside = False
            for index, line in enumerate(self.lines):
                words = line.text.split()
                inside = inside or words[:2] == [SNIPPET, "BEGIN"]
                if inside:
                    indices.add(index)
                    inside = words[:2] != [SNIPPET, "END"]
        result = self.cache[SNIPPET] = frozenset(indices)
        return result

    def as_read(self) -> "Section":
        """Return a copy of the section whose snippets are parsed like other lines, as HAProxy parses them."""
        if not self.snippets:
            return self
        read = self.with_lines(self.lines)
        read.cache[SNIPPET] = frozenset()
        return read

    def outside_blocks(self, place: int) -> int:
        """Return the index of the last line of the conditional block or snippet that contains the line at `place`.

        Return `place` if no block or snippet contains the line, or if the section ends inside the block.
        """
        while place in self.snippets and place + 1 in self.snippets:
            place += 1
        depth = [0] * (len(self.lines) + 1)
        for i, line in enumerate(self.lines):
            word = line.args[0] if line.args else ""
            depth[i + 1] = depth[i] + (word == ".if") - (word == ".endif" and depth[i] > 0)
        end = place
        while end + 1 < len(self.lines) and depth[end + 1] > 0:
            end += 1
        return place if depth[end + 1] > 0 else end

    def between(self, previous: int | None, following: int | None) -> int:
        """Return the index of the line below which to insert a new line, so that it is between the lines at `previous` and `following`.

        `previous`: None for the header. `following`: None for the end of the section. The new line will be in the innermost conditional
        block that contains both lines, and above the comments that belong to the line at `following`.
        """
        depths, end = self._depths(), len(self.lines) if following is None else following
        if previous is not None:
            return min(range(previous, max(end, previous + 1)), key=depths.__getitem__)
        place = min(range(end - 1, -1, -1), key=depths.__getitem__)
        return place - len(self.comments_above(place + 1))

    def comments_above(self, place: int) -> list[int]:
        """Return the indices of the comment lines directly above the line at `place`."""
        first = place
        while first > 1 and self.lines[first - 1].is_comment and first - 1 not in self.snippets:
            first -= 1
        return list(range(first, place))

    def is_conditional(self, place: int) -> bool:
        """Return whether the line at `place` is in a conditional block."""
        return self._depths()[place] > 0 and place not in self.snippets

    def _depths(self) -> list[int]:
        """Return the number of open conditional blocks and snippets after each line."""
        known: list[int] | None = self.cache.get(DEPTHS)
        if known is None:
            snippets, depth, known = self.snippets, 0, []
            for place, line in enumerate(self.lines):
                depth = depth_after([line], depth)
                known.append(depth + (place in snippets and place + 1 in snippets))
            self.cache[DEPTHS] = known
        return known

    def open_conditionals(self) -> list[Line]:
        """Return the lines (`.if`, `.endif`, ...) of conditional blocks that begin or end outside this section."""
        open_: list[Line] = []
        blocks: list[list[Line]] = []
        for line in self.lines:
            word = line.args[0] if line.args else ""
            if word == ".if":
                blocks.append([line])
            elif word in CONDITIONALS and blocks:
                blocks[-1].append(line)
                if word == ".endif":
                    blocks.pop()
            elif word in CONDITIONALS:
                open_.append(line)
        return open_ + [line for block in blocks for line in block]

    def __repr__(self) -> str:
        return f"Section({self.kind} {self.name})"


def depth_after(lines: Iterable[Line], depth: int) -> int:
    """Return the number of open conditional blocks after some lines. `depth`: the number of open blocks before them."""
    for line in lines:
        word = line.args[0] if line.args else ""
        depth = max(depth + (word == ".if") - (word == ".endif"), 0)
    return depth
