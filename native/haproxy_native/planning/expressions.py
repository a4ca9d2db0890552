"""Values by which HAProxy reads or changes what no rule of a role names; expressions.toml says which these are. Pure.

Whoever may change a server, a rule or a log format writes a small program: the name that a server is asked for by TLS may be a line of any
file that HAProxy can read. So a change that brings such a value in touches `global/expressions` as well (touches.py), by whatever member,
line or text it comes. A value that stays, or moves within what the change may touch, is none of it.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from haproxy_native.text.pieces import split_lines
from haproxy_native.text.words import unquoted, words_of

# Few lines may hold one.
_SUSPECT = re.compile(r"[\"'\\($]|-f|file|command|config")
# HAProxy expands variables in weak quotes only.
_VARIABLE = re.compile(r"\$[{A-Za-z_.]")
Value = tuple[str, ...]


def has_new(before: Iterable[str], after: Iterable[str]) -> bool:
    """Tell whether the texts after a change have such a value more often than those before it."""
    was, now = (Counter(value for text in texts for value in _of_text(text)) for texts in (before, after))
    return not now <= was


def _of_text(text: str) -> Iterator[Value]:
    for line in split_lines(text):
        if _SUSPECT.search(line):
            yield from _of_line(words_of(line))


def _of_line(written: Sequence[str]) -> Iterator[Value]:
    words = tuple(map(unquoted, written))
    found = [place for place, word in enumerate(words) if _table().calls.search(word) or _expands(written[place])]
    if words and words[0] in _table().of_options and not {0, 1, 2}.intersection(found):
        # Each with its option. Which server or listener has it, rules for these say.
        yield from (words[place - 1 : place + 1] for place in found)
    elif found or _names_file(words):
        yield words


def _names_file(words: Value) -> bool:
    table, line = _table(), " ".join(words)
    is_named = any(f"{line} ".startswith(f"{begin} ") for begin in table.lines)
    return is_named or table.patterns in words or not table.files.get(words[0] if words else "", frozenset()).isdisjoint(words[:-1])


def _expands(word: str) -> bool:
    """Tell whether HAProxy replaces a variable in a word."""
    quote, at = "", 0
    while '"' in word and at < len(word):
        if word[at] == "\\" and quote != "'":
            at += 1
        elif word[at] in "\"'" and quote in ("", word[at]):
            quote = "" if quote else word[at]
        elif quote == '"' and _VARIABLE.match(word, at):
            return True
        at += 1
    return False


class _Table:
    def __init__(self, declared: dict[str, Any]) -> None:
        self.calls = re.compile(declared["calls"])
        self.lines: list[str] = declared["lines"]
        self.patterns: str = declared["patterns"]
        self.of_options = frozenset(declared["of_options"])
        self.files = {begin: frozenset(words) for begin, words in declared["files"].items()}


@cache
def _table() -> _Table:
    return _Table(tomllib.loads(Path(__file__).with_suffix(".toml").read_text()))
