"""The lines of a configuration that an object is made of, comments above a section included."""

from collections.abc import Iterator
from itertools import pairwise

from dataplaneapi.ctl.kinds import INDEXED, KEYWORDS, LINES
from dataplaneapi.ctl.objects import Object

_BEGINNINGS = {*KEYWORDS.values(), "program", "dynamic-update"}


def lines_of(text: str, asked: Object) -> str:
    """The sections or lines of it; empty where there is none."""
    wanted = asked.name if "/" not in asked.kind else asked.parent
    texts = [lines for header, lines in _sections(text) if header[0] == asked.section and (not wanted or wanted in header[1:2])]
    if "/" not in asked.kind:
        return "\n".join("".join(lines).strip("\n") + "\n" for lines in texts)
    return "".join(line for lines in texts for line in _children(lines, asked))


def _sections(text: str) -> Iterator[tuple[list[str], list[str]]]:
    """The words of each section's first line, and all its lines."""
    header: list[str] = []
    lines: list[str] = []
    for line in text.splitlines(keepends=True):
        words = line.split("#")[0].split()
        if words and words[0] in _BEGINNINGS and not line[0].isspace():
            above = _comments(lines)
            if header:
                yield header, lines[: len(lines) - len(above)]
            header, lines = words, above
        lines.append(line)
    if header:
        yield header, lines


def _comments(lines: list[str]) -> list[str]:
    """The comments at the end, which belong to the section that follows."""
    first = len(lines)
    while first and lines[first - 1].startswith("#"):
        first -= 1
    return lines[first:]


def _children(lines: list[str], asked: Object) -> Iterator[str]:
    kind = asked.kind.rpartition("/")[2]
    keyword = LINES.get(kind, kind.removesuffix("_rule").replace("_", "-"))
    place = -1
    for line in lines:
        words = line.split()
        if not words or words[0] != keyword:
            continue
        place += 1
        if asked.name is None or (asked.name == str(place) if kind in INDEXED else _is_named(words, asked.name)):
            yield line


def _is_named(words: list[str], name: str) -> bool:
    """Whether a section has this name: its second word, or the one after `name`."""
    return words[1:2] == [name] or ("name", name) in pairwise(words[2:])
