"""The first line of an error message: what and where, short enough for a log, a terminal and a dashboard."""

import re

LONGEST = 300
# What is left of a long name or value, in characters.
_KEPT = 100
_MARK = "..."
_LONG_QUOTED = re.compile(rf"\"[^\"\n]{{{_KEPT + 1},}}\"|(?<![^\s(\[=:,])'[^'\n]{{{_KEPT + 1},}}'")
_LONG_WORD = re.compile(rf"\S{{{_KEPT + 1},}}")
# Where a line may be broken, best first.
_BREAKS = ("\n", "; ", ": ", ", ", " ")


def summarized(message: str) -> str:
    """The message, whose first line has at most LONGEST characters.

    Names and values of a longer one are shortened in the middle; what is still too much stands on the next line.
    """
    line, end, rest = message.partition("\n")
    if len(line) <= LONGEST:
        return message
    line = _LONG_QUOTED.sub(_shortened, line)
    if len(line) > LONGEST:
        line = _LONG_WORD.sub(_shortened, line)
    return _broken(line) + end + rest


def _shortened(match: re.Match[str]) -> str:
    """The beginning and the end, with the quotes where there are any."""
    text = match[0]
    side = (_KEPT - len(_MARK)) // 2
    return text[:side] + _MARK + text[-side:]


def _broken(line: str) -> str:
    if len(line) <= LONGEST:
        return line
    ends = [
        line.rfind(separator, LONGEST // 2, LONGEST) + len(separator.rstrip())
        for separator in _BREAKS
        if separator in line[LONGEST // 2 : LONGEST]
    ]
    at = ends[0] if ends else LONGEST
    return f"{line[:at]}\n{line[at:].lstrip()}"
