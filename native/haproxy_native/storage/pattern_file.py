"""The text of a pattern file (HAProxy Configuration Manual, 7.1, `-f`), read as HAProxy reads it; edits keep all other lines. Pure.

A pattern is what is left of a line behind leading blanks; only a `#` in the first column begins a comment.
"""

import re
from collections import Counter
from collections.abc import Sequence

from haproxy_native.errors import BadValue

# HAProxy reads a line up to the first of these.
_ENDS = re.compile(r"[\r\0]")
_LINES = re.compile(r"[^\n]*\n|[^\n]+")


def read(text: str) -> list[str]:
    return [pattern for line in text.split("\n") if (pattern := pattern_of(line))]


def pattern_of(line: str) -> str:
    """Returns the pattern of one line; empty for comments and blank lines."""
    return "" if line.startswith("#") else _ENDS.split(line, maxsplit=1)[0].lstrip(" \t")


def with_patterns(text: str, patterns: Sequence[str]) -> str:
    """The text for exactly these patterns: lines stay where they are, those of others go, new ones stand at the end. Raises BadValue."""
    left = Counter(patterns)
    lines = []
    for line in _LINES.findall(text):
        pattern = pattern_of(line.rstrip("\n"))
        if not pattern or left[pattern]:
            lines.append(line)
            left[pattern] -= 1
    end = "\r\n" if "\r\n" in text else "\n"
    new = [_line(pattern) + end for pattern in _remaining(patterns, left)]
    if lines and new and not lines[-1].endswith("\n"):
        lines[-1] += end
    return "".join(lines + new)


def _remaining(patterns: Sequence[str], left: "Counter[str]") -> list[str]:
    """Returns the remaining patterns in order, each as often as it remains."""
    remaining: list[str] = []
    for pattern in reversed(patterns):
        if left[pattern] > 0:
            left[pattern] -= 1
            remaining.insert(0, pattern)
    return remaining


def _line(pattern: str) -> str:
    if not pattern or pattern[0] in "# \t" or re.search(r"[\n\r\0]", pattern):
        raise BadValue(f"a line of a file cannot hold the pattern {pattern!r}: neither # nor a blank at its beginning, and no line breaks")
    return pattern
