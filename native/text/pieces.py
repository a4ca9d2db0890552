"""Long texts line by line in pieces: a pattern holds the interpreter as long as it runs, and other threads wait."""

import re
from collections.abc import Iterator
from itertools import islice
from typing import AnyStr

PIECE = 1 << 16


def pieces(text: AnyStr) -> Iterator[tuple[int, int]]:
    """(start, end) of stretches of whole lines, each of PIECE characters or little more."""
    newline = b"\n" if isinstance(text, bytes) else "\n"
    start = 0
    while start < len(text):
        end = text.find(newline, start + PIECE) + 1 or len(text)
        yield start, end
        start = end


def finditer(pattern: re.Pattern[AnyStr], text: AnyStr) -> Iterator[re.Match[AnyStr]]:
    """As the pattern's own, for one whose matches begin at a line's start and hold one line end at most, their last sign."""
    for start, end in pieces(text):
        yield from pattern.finditer(text, start, end)


def search(pattern: re.Pattern[AnyStr], text: AnyStr) -> re.Match[AnyStr] | None:
    """The first of `finditer`."""
    return next(finditer(pattern, text), None)


def without(pattern: re.Pattern[AnyStr], text: AnyStr, most: int = 0) -> AnyStr:
    """The text without all that `finditer` finds, or without the first so many of it."""
    found: list[tuple[int, int]] = [match.span() for match in islice(finditer(pattern, text), most or None)]
    if not found:
        return text
    starts, ends = [0, *(end for _, end in found)], [*(start for start, _ in found), len(text)]
    return text[:0].join(text[start:end] for start, end in zip(starts, ends, strict=True))
