"""Who has written each line of a section, from the entries that have changed it. Pure."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace

from haproxy_native.history.entries import Entry
from haproxy_native.text.document import CONFIGURATION, Document
from haproxy_native.text.line_diff import changes
from haproxy_native.text.parts import first_lines
from haproxy_native.text.pieces import split_lines


@dataclass(frozen=True)
class Blamed:
    """A line of a section and the last entry that changed it, None for one that was there before the history began."""

    number: int
    text: str
    entry: Entry | None

    def masked(self, text: str) -> "Blamed":
        return replace(self, text=text)


def blame(steps: Iterable[tuple[Entry, bytes, bytes]], kind: str, name: str, now: Document) -> Iterator[Blamed]:
    """`steps` are entries with the configuration before and after, the oldest first; `number` counts the lines of the file from 1."""
    lines, authors = list[str](), list[Entry | None]()
    for entry, before, after in steps:
        lines, authors = _next(lines, authors, _lines(before, kind, name), None)
        lines, authors = _next(lines, authors, _lines(after, kind, name), entry)
    section = now.find(kind, name)
    lines, authors = _next(lines, authors, split_lines(section.text) if section else [], None)
    first = first_lines(now)[now.place(section)] if section else 0
    for place, (line, author) in enumerate(zip(lines, authors, strict=True)):
        yield Blamed(first + place, line.rstrip("\r\n"), author)


def _next(lines: list[str], authors: list[Entry | None], new: list[str], by: Entry | None) -> tuple[list[str], list[Entry | None]]:
    """The new lines with their authors; those that are not among the former ones are `by`'s."""
    result, at = list[Entry | None](), 0
    for (start, end), (new_start, new_end) in changes(lines, new):
        result += [*authors[at:start], *([by] * (new_end - new_start))]
        at = end
    return new, [*result, *authors[at:]]


def _lines(data: bytes, kind: str, name: str) -> list[str]:
    section = Document.parse(data, CONFIGURATION).find(kind, name)
    return split_lines(section.text) if section else []
