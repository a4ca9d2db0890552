"""Process long texts in pieces, so that other threads can run. Compare long sequences by slices, which is faster than by elements."""

import codecs
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import AnyStr

from haproxy_native.abandonment import check

PIECE = 1 << 16
_MANY = 1 << 14
# How many elements of two sequences are compared at once.
_STEP = 1 << 8


def pieces(text: AnyStr) -> Iterator[tuple[int, int]]:
    """Divide a text into ranges of whole lines, and yield (start, end) of each. Raises Abandoned.

    A range has at most PIECE characters, unless it is a single line that is longer.
    """
    newline: AnyStr = b"\n" if isinstance(text, bytes) else "\n"
    start = 0
    while start < len(text):
        check()
        end = min(start + PIECE, len(text))
        if end < len(text):
            end = text.rfind(newline, start, end) + 1 or text.find(newline, end) + 1 or len(text)
        yield start, end
        start = end


def finditer(pattern: re.Pattern[AnyStr], text: AnyStr) -> Iterator[re.Match[AnyStr]]:
    """Yield the matches of a pattern in a text. Each match of `pattern` must begin at the start of a line, and end in the same line."""
    for start, end in pieces(text):
        if end - start > PIECE:
            yield from filter(None, [pattern.match(text, start, end)])
        else:
            yield from pattern.finditer(text, start, end)


def search(pattern: re.Pattern[AnyStr], text: AnyStr) -> re.Match[AnyStr] | None:
    """Return the first match of `finditer`, or None."""
    return next(finditer(pattern, text), None)


def without(pattern: re.Pattern[AnyStr], text: AnyStr, most: int = 0) -> AnyStr:
    """Return the text without the matches of `finditer`. If `most` is not 0, only the first `most` matches are removed."""
    spans: list[tuple[int, int]] = [match.span() for match in islice(finditer(pattern, text), most or None)]
    if not spans:
        return text
    starts, ends = [0, *(end for _, end in spans)], [*(start for start, _ in spans), len(text)]
    return text[:0].join(text[start:end] for start, end in zip(starts, ends, strict=True))


def joined(parts: Iterable[str]) -> str:
    """Join texts, in batches if there are many, so that the caller can be abandoned between two batches. Raises Abandoned."""
    parts = iter(parts)
    texts = list[str]()
    while some := list(islice(parts, _MANY)):
        check()
        texts.append("".join(some))
    return texts[0] if len(texts) == 1 else "".join(texts)


def apart(one: Sequence[object], other: Sequence[object]) -> tuple[slice, slice]:
    """Return (range in `one`, range in `other`) of the elements that differ. All elements before and after these ranges are equal."""
    size, others = len(one), len(other)
    begin, most = 0, min(size, others)
    while begin + _STEP <= most and one[begin : begin + _STEP] == other[begin : begin + _STEP]:
        begin += _STEP
    while begin < most and one[begin] == other[begin]:
        begin += 1
    end, most = 0, most - begin
    while end + _STEP <= most and one[size - end - _STEP : size - end] == other[others - end - _STEP : others - end]:
        end += _STEP
    while end < most and one[-1 - end] == other[-1 - end]:
        end += 1
    return slice(begin, size - end), slice(begin, others - end)


def split_lines(text: str) -> list[str]:
    """Return the lines of a text with their line ends. Only `\\n` ends a line, as in HAProxy."""
    if len(text) <= PIECE:
        return _lines(text)
    return [line for start, end in pieces(text) for line in _lines(text[start:end])]


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def decoded(data: bytes) -> str:
    """Decode bytes as UTF-8. Bytes that are not UTF-8 become lone surrogates."""
    if len(data) <= PIECE or data.isascii():
        return data.decode("utf-8", "surrogateescape")
    decoder = codecs.getincrementaldecoder("utf-8")("surrogateescape")
    parts = [decoder.decode(data[start : start + PIECE]) for start in range(0, len(data), PIECE)]
    return "".join([*parts, decoder.decode(b"", final=True)])


def encoded(text: str) -> bytes:
    """Encode a text as UTF-8, and lone surrogates as the bytes that `decoded` made them from."""
    if len(text) <= PIECE or text.isascii():
        return text.encode("utf-8", "surrogateescape")
    return b"".join(text[start : start + PIECE].encode("utf-8", "surrogateescape") for start in range(0, len(text), PIECE))
