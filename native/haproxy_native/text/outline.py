"""Where the sections of a file begin: by which words, and whether a name in brackets divides the file into scopes.

A scope is a section of its own that holds only what stands before its first section.
"""

import re
from collections.abc import Iterable

from haproxy_native.text.line import Line
from haproxy_native.text.pieces import finditer
from haproxy_native.text.words import BLANKS, heard

SCOPE = "scope"
"""The kind of a line in brackets; its name has them."""
_SCOPE_NAME = re.compile(rf"[{BLANKS}]*(\[[^\]\n]*\]?)")


class Outline:
    """`kinds` are the words that begin a section; with `scopes`, a line that begins with `[` does, too."""

    def __init__(self, kinds: Iterable[str], *, scopes: bool = False) -> None:
        self.kinds = frozenset(kinds)
        # A section keyword as first word, or a first word whose quotes or escapes may hide one.
        longest = max(map(len, self.kinds))
        words = rf"(?:{'|'.join(sorted(self.kinds))})(?=[ \t\r\v\f#\n]|\Z)|[^\s\"'\\#]{{0,{longest}}}[\"'\\]" + (r"|\[" if scopes else "")
        self._header = re.compile(rf"^(?!\n)[ \t\r\v\f]*(?:{words})", re.MULTILINE)
        self._scopes = scopes

    def headers(self, text: str) -> list[tuple[int, str, str]]:
        """(offset, kind, name) of each line that begins a section."""
        return [header for match in finditer(self._header, text) if (header := self._header_at(text, match.start()))]

    def _header_at(self, text: str, start: int) -> tuple[int, str, str] | None:
        if self._scopes and (scope := _SCOPE_NAME.match(text, start)):
            return start, SCOPE, scope[1]
        end = text.find("\n", start)
        line = Line(text[start : len(text) if end < 0 else end])
        words, args = line.words, line.args
        kind = args[0] if args else ""
        if kind not in self.kinds:
            return None
        nameless = len(words) < 2 or kind in ("global", "traces") or (kind == "defaults" and args[1] == "from")
        return start, kind, "" if nameless else heard(words[1])
