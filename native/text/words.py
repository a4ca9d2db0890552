"""Splits a line into gaps, words and comment exactly as HAProxy does, and loses nothing of it.

Words keep their quotes, backslashes and `${VAR}`: a value is the text of the file
(HAProxy Configuration Manual, section 2.2 "Quoting and escaping").
"""

import re
from typing import NamedTuple

BLANKS = " \t\r\v\f"
BLANK = f"[{BLANKS}]"
_WORD = (
    r'(?:[^ \t\r\v\f\n"\'\\#]+'  # plain characters
    r"|\\[^\t\r\v\f\n]"  # an escaped one; a tab separates even then
    r"|\\(?=[\t\r\v\f\n]|$)"  # a backslash that escapes nothing
    r'|"(?:[^"\\\n]|\\[^\n])*(?:"|\\?(?=\n|$))'  # weak quotes, perhaps left open
    r"|'[^'\n]*(?:'|(?=\n|$))"  # strong quotes, perhaps left open
    r")+"
)
_GAP_AND_WORD = re.compile(rf"({BLANK}*)({_WORD})", re.DOTALL)
_WHOLE_WORD = re.compile(_WORD, re.DOTALL)
# What a plain `str.split` would get wrong: quotes, escapes, comments, and the characters only Python takes for blanks.
_SPECIAL = re.compile(r"[\"'\\#\x1c-\x1f]|[^\x00-\x7f]")
_OPEN_QUOTE = re.compile(
    r"""(?:[^"'\\]|\\.|"(?:[^"\\]|\\.)*"|'[^']*')*(?:"(?:[^"\\]|\\.)*\\?|'[^']*)""", re.DOTALL
)


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
        _, sign, text = self.tail.partition("#")
        return text.strip(BLANKS + "\n") if sign else None


def split(line: str) -> Split:
    """Gaps, words and tail of one line; `split(line).join() == line` for any text."""
    gaps, words, end = [], [], 0
    while match := _GAP_AND_WORD.match(line, end):
        gaps.append(match[1])
        words.append(match[2])
        end = match.end()
    return Split(tuple(gaps), tuple(words), line[end:])


def words_of(line: str) -> tuple[str, ...]:
    """The words of one line alone, cheaply."""
    return split(line).words if _SPECIAL.search(line) else tuple(line.split())


def is_word(text: str) -> bool:
    """Whether HAProxy takes the text as exactly one word."""
    return bool(text) and _WHOLE_WORD.fullmatch(text) is not None and not has_open_quote(text)


def has_open_quote(text: str) -> bool:
    return _OPEN_QUOTE.fullmatch(text) is not None


def quoted(text: str) -> str:
    """The text as one word in weak quotes; `$` stays live, as it was sent."""
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def unquoted(word: str) -> str:
    """What HAProxy makes of a word, environment variables aside."""
    out, i, quote = [], 0, ""
    while i < len(word):
        sign = word[i]
        if sign == "\\" and quote != "'" and i + 1 < len(word):
            i += 1
            out.append(word[i])
        elif sign in "\"'" and quote in ("", sign):
            quote = "" if quote else sign
        else:
            out.append(sign)
        i += 1
    return "".join(out)
