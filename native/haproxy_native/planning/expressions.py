"""Values that reach further than the object that has them, such as files and local sockets; expressions.toml lists them. Pure.

Whoever may change a server, a rule or a log format writes a small program: the name that a server is asked for by TLS may be a line of any
file that HAProxy can read, and its address may be the socket that administers HAProxy. So a change that adds such a value touches
`global/expressions` as well (touches.py), by whatever member, line or text it comes. A change that only keeps or moves the values that are
there does not.
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

# What may quote or call something, or begin an address. Other lines hold a value only by their words.
_SIGNS = r"[\"'\\($/@]"
_QUOTING = str.maketrans("", "", "\"'\\")
# HAProxy expands variables in weak quotes only.
_VARIABLE = re.compile(r"\$[{A-Za-z_.]")
Value = tuple[str, ...]


def has_new(before: Iterable[str], after: Iterable[str]) -> bool:
    """Tell whether the texts after a change have such a value more often than those before it."""
    was, now = (Counter(value for text in texts for value in _of_text(text)) for texts in (before, after))
    return not now <= was


def _of_text(text: str) -> Iterator[Value]:
    suspect = _table().suspect
    for line in split_lines(text):
        if suspect.search(line):
            yield from _of_line(words_of(line))


def _of_line(written: Sequence[str]) -> Iterator[Value]:
    table, words = _table(), tuple(map(unquoted, written))
    first = words[0] if words else ""
    found = {place for place, word in enumerate(words) if table.is_call(word) or _expands(written[place])}
    found.update(place for place in _places(words, table.addresses.get(first, ())) if not table.is_of_network(words[place]))
    found.update(_places(words, table.files.get(first, ())))
    if first in table.of_options:
        # Each with its option. Which server or listener has it, rules for these say.
        yield from (words[max(0, place - 1) : place + 1] for place in sorted(found))
    elif found or table.patterns in words or any(f"{' '.join(words)} ".startswith(f"{begin} ") for begin in table.lines):
        yield words


def _places(words: Value, of: Iterable[int | str]) -> Iterator[int]:
    for each in of:
        places = [each] if isinstance(each, int) else [place + 1 for place, word in enumerate(words) if word == each]
        yield from (place for place in places if place < len(words))


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
        self.lines: list[str] = declared["lines"]
        self.patterns: str = declared["patterns"]
        self.of_options = frozenset(declared["of_options"])
        self.files: dict[str, list[str]] = declared["files"]
        self.addresses: dict[str, list[int | str]] = declared["addresses"]
        self._calls, self._network = re.compile(declared["calls"]), re.compile(declared["network"])
        last = {line.split()[-1] for line in self.lines}.union([self.patterns], *self.files.values())
        self.suspect = re.compile("|".join([_SIGNS, declared["calls"], *map(re.escape, sorted(last))]))

    def is_call(self, word: str) -> bool:
        # Arguments may have quotes of their own.
        return any(self._calls.search(each) for each in {word, word.translate(_QUOTING)})

    def is_of_network(self, address: str) -> bool:
        return all(map(self._network.fullmatch, address.split(",")))


@cache
def _table() -> _Table:
    return _Table(tomllib.loads(Path(__file__).with_suffix(".toml").read_text()))
