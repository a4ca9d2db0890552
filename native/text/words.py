"""Splits a line into gaps, words and comment exactly as HAProxy does, and loses nothing of it.

Words keep their quotes, backslashes and `${VAR}`: a value is the text of the file
(HAProxy Configuration Manual, section 2.2 "Quoting and escaping").
"""

import re
from typing import NamedTuple

BLANKS = " \t\r\v\f"
# A carriage return that does not follow another blank ends the line; what stands behind it is dead.
_GAP = r"(?:[ \t\v\f][ \t\r\v\f]*)?"
# Inside the default of a variable, quotes are like any other character.
_NAME = r"[A-Za-z_.][\w.]*(?:\[\*\])?"
_DEFAULT = rf"\$\{{{_NAME}-[^}}\r\n]*\}}"
_WEAK = rf'"(?:[^"\\$\r\n]++|\\[^\r\n]|{_DEFAULT}|\$)*+'
_STRONG = r"'[^'\r\n]*+"
_WORD = (
    r'(?:[^ \t\r\v\f\n"\'\\#]++'  # plain characters
    r"|\\[^\t\r\v\f\n]"  # an escaped one; a tab separates even then
    r"|\\(?=[\t\r\v\f\n]|\Z)"  # a backslash that escapes nothing
    rf'|{_WEAK}(?:"|\\?(?=[\r\n]|\Z))'  # quotes, perhaps left open
    rf"|{_STRONG}(?:'|(?=[\r\n]|\Z))"
    r")++"
)
_GAP_AND_WORD = re.compile(rf"({_GAP})({_WORD})", re.ASCII)
_FIRST = re.compile(rf"([{BLANKS}]*)({_WORD})", re.ASCII)
_COMMENT = re.compile(rf"{_GAP}#(.*)", re.DOTALL)
_CLOSED_WORD = re.compile(rf"""(?:[^ \t\r\v\f\n"'\\#]++|\\[^\t\r\v\f\n]|{_WEAK}"|{_STRONG}')++""", re.ASCII)
_CLOSED = re.compile(rf"""(?:[^"'\\]++|\\.|\\\Z|{_WEAK}"|{_STRONG}')*+""", re.ASCII | re.DOTALL)
# What a plain `str.split` would get wrong: quotes, escapes, comments, dead text, and the characters only Python takes for blanks.
_SPECIAL = re.compile(r"[\"'\\#\x1c-\x1f]|[^\x00-\x7f]|\r(?!\n)")
_DEFAULT_AT = re.compile(_DEFAULT, re.ASCII)
_TO_ESCAPE = re.compile(rf"""(\$\{{{_NAME}(?:-[^}}\r\n]*)?\}})|[\\"$]""", re.ASCII)
_ESCAPE = re.compile(r"\\(?:([ \\#'\"])|([tnr])|x([0-9A-Fa-f]{2})|(\$))")
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}


class Split(NamedTuple):
    """A line taken apart: `gaps[i]` stands before `words[i]`; `tail` is the blanks, comment and line end behind them."""

    gaps: tuple[str, ...]
    words: tuple[str, ...]
    tail: str

    def join(self) -> str:
        return "".join(part for pair in zip(self.gaps, self.words, strict=True) for part in pair) + self.tail

    @property
    def comment(self) -> str | None:
        """The text behind `#` without leading blanks, or None without a comment."""
        found = _COMMENT.match(self.tail)
        return found[1].strip(BLANKS + "\n") if found else None


def split(line: str) -> Split:
    """Gaps, words and tail of one line; `split(line).join() == line` for any text."""
    gaps, words, end = [], [], 0
    match = _FIRST.match(line)
    while match:
        gaps.append(match[1])
        words.append(match[2])
        end = match.end()
        match = _GAP_AND_WORD.match(line, end)
    return Split(tuple(gaps), tuple(words), line[end:])


def words_of(line: str) -> tuple[str, ...]:
    """The words of one line alone, cheaply."""
    return split(line).words if _SPECIAL.search(line) else tuple(line.split())


def is_word(text: str) -> bool:
    """Whether HAProxy takes the text as exactly one word wherever it stands."""
    return _CLOSED_WORD.fullmatch(text) is not None


def has_open_quote(text: str) -> bool:
    """Whether a quote begins that nothing ends."""
    return _CLOSED.fullmatch(text) is None


def quoted(text: str) -> str:
    """The text as one word in weak quotes; `${VAR}` stays live, any other `$` is one."""
    return '"' + _TO_ESCAPE.sub(lambda found: found[1] or "\\" + found[0], text) + '"'


def unquoted(word: str) -> str:
    """What HAProxy makes of a word, environment variables aside."""
    out, at, quote = [], 0, ""
    while at < len(word):
        sign = word[at]
        size, text = (1, sign) if quote == "'" else _stretch(word, at, weak=quote == '"')
        if size == 1 and sign in "\"'" and quote in ("", sign):
            quote = "" if quote else sign
        else:
            out.append(text)
        at += size
    return "".join(out)


def _stretch(word: str, at: int, *, weak: bool) -> tuple[int, str]:
    """(length, meaning) of one character, escape, or variable with its default."""
    if weak and (default := _DEFAULT_AT.match(word, at)):
        return len(default[0]), default[0]
    escape = _ESCAPE.match(word, at)
    if not escape or (escape[4] and not weak):
        return 1, word[at]
    meaning = escape[1] or escape[4] or _CONTROLS.get(escape[2] or "") or chr(int(escape[3], 16))
    return len(escape[0]), meaning
