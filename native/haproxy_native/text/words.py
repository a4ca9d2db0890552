"""Split a line into gaps, words and a comment as HAProxy does. Joining them again returns the same bytes.

A word includes its quotes, backslashes and `${VAR}`, exactly as in the file (HAProxy Configuration Manual, section 2.2 "Quoting and
escaping").
"""

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

BLANKS = " \t\r\v\f"
# A carriage return that does not follow another blank ends the line; HAProxy ignores the rest.
_GAP = r"(?:[ \t\v\f][ \t\r\v\f]*)?"
# The patterns have no possessive quantifiers and no atomic groups, in which Python 3.11.0 to 3.11.4 has errors. Instead, no pattern can
# fail after a repetition of alternatives, and such a repetition is short, since Python stores a state for each of its rounds.
_AT_ONCE = "{1,64}"
_NAME = r"[A-Za-z_.][\w.]*(?:\[\*\])?"
# The default of a variable may contain quotes like any other character. Without its brace it extends to the end of the line, which HAProxy
# refuses.
_DEFAULT = rf"\$\{{{_NAME}-[^}}\r\n]*\}}?"
_PLAIN = r"[^ \t\r\v\f\n\"'\\#]"
# In most cases a whole word; otherwise its beginning, and the quote or backslash that follows.
_WORD = rf"({_PLAIN}*(?:(?:\"[^\"\\$\r\n]*\"|'[^'\r\n]*'){_PLAIN}*){{0,4}})([\"'\\]?)"
_FIRST = re.compile(rf"([{BLANKS}]*){_WORD}")
_NEXT = re.compile(rf"({_GAP}){_WORD}")
# The parts of a word apart from weak quotes: plain characters, escaped ones (even an escaped tab ends the word), and strong quotes, which
# may lack their end. In _CLOSED_PIECES they have it.
_PIECES = re.compile(rf"(?:{_PLAIN}+|\\[^\t\r\v\f\n]?|'[^'\r\n]*'?){_AT_ONCE}")
_CLOSED_PIECES = re.compile(rf"(?:{_PLAIN}+|\\[^\t\r\v\f\n]|'[^'\r\n]*'){_AT_ONCE}")
_IN_WEAK_QUOTES = re.compile(rf"(?:[^\"\\$\r\n]+|\\[^\r\n]|{_DEFAULT}|\$){_AT_ONCE}", re.ASCII)
_COMMENT = re.compile(rf"{_GAP}#(.*)", re.DOTALL)
# Characters that `str.split` would handle wrongly: quotes, escapes, comments, ignored text, and characters that are blanks only for Python.
_SPECIAL = re.compile(r"[\"'\\#\x1c-\x1f]|[^\x00-\x7f]|\r(?!\n)")
# For each open quote, or none: the longest text without characters that have a special meaning there.
_STRETCH = {"": re.compile(r"[^\"'\\]+"), "'": re.compile(r"[^']+"), '"': re.compile(rf"[^\"\\$]+|{_DEFAULT}|\$", re.ASCII)}
_TO_ESCAPE = re.compile(rf"""\$\{{{_NAME}\}}|{_DEFAULT}|[\\"$]""", re.ASCII)
_SIGN = re.compile(r"""[\\"$]""")
_ESCAPE = re.compile(r"\\(?:([ \\#'\"])|([tnr])|x([0-9A-Fa-f]{2})|(\$))")
# A variable: `${NAME}`, `${NAME-default}` or `$NAME`.
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_.][\w.]*)(?:-([^}\r\n]*))?\}|([A-Za-z_.][\w.]*))", re.ASCII)
_CONTROLS = {"t": "\t", "n": "\n", "r": "\r"}


class SplitLine(NamedTuple):
    """A split line. `gaps[i]` is the text before `words[i]`; `tail` is the text after the last word, including comment and line end."""

    gaps: tuple[str, ...]
    words: tuple[str, ...]
    tail: str

    def join(self) -> str:
        return "".join(part for pair in zip(self.gaps, self.words, strict=True) for part in pair) + self.tail

    @property
    def comment(self) -> str | None:
        """Return the text of the comment, without `#` and surrounding blanks; None if the line has no comment."""
        match = _COMMENT.match(self.tail)
        return match[1].strip(BLANKS + "\n") if match else None


def split(line: str) -> SplitLine:
    """Split one line; `split(line).join() == line` for any text."""
    gaps, words, end = [], [], 0
    match = _FIRST.match(line)
    while match:
        gap, word, mark = match.groups()
        if mark:
            begin = match.end(1)
            end = begin + len(word)
            while end < len(line):
                if line[end] == '"':
                    end, _ = _weak_end(line, end)
                elif piece := _PIECES.match(line, end):
                    end = piece.end()
                else:
                    break
            word = line[begin:end]
        elif word:
            end = match.end()
        else:
            break
        gaps.append(gap)
        words.append(word)
        match = _NEXT.match(line, end)
    return SplitLine(tuple(gaps), tuple(words), line[end:])


def _weak_end(text: str, at: int) -> tuple[int, bool]:
    """Return (index after the weak quotes that open at `at`, whether they are closed)."""
    at += 1
    while match := _IN_WEAK_QUOTES.match(text, at):
        at = match.end()
    closed = text.startswith('"', at)
    return at + closed, closed


def words_of(line: str) -> tuple[str, ...]:
    """Return the words of a line with their quotes. This is faster than `split`."""
    return split(line).words if _SPECIAL.search(line) else tuple(line.split())


def is_word(text: str) -> bool:
    """Return whether HAProxy reads a text as exactly one word, at any position of a line."""
    at, closed = 0, text != ""
    while closed and at < len(text):
        if text[at] == '"':
            at, closed = _weak_end(text, at)
        elif match := _CLOSED_PIECES.match(text, at):
            at = match.end()
        else:
            closed = False
    return closed


def quoted(text: str) -> str:
    """Return a text as one word in double quotes. HAProxy expands each `${VAR}` in the word; any other `$` is escaped."""
    return '"' + _TO_ESCAPE.sub(_escape_signs, text) + '"'


def _escape_signs(match: re.Match[str]) -> str:
    text = match[0]
    if len(text) == 1:
        return "\\" + text
    return text if text.startswith("${") and text.endswith("}") else _SIGN.sub(r"\\\g<0>", text)


def has_quotes(text: str) -> bool:
    """Return whether a text has a quote or a backslash."""
    return '"' in text or "'" in text or "\\" in text


def unquoted(word: str) -> str:
    """Return a word without quotes and escapes, as HAProxy reads it. Environment variables are not expanded."""
    return _read(word, lambda variable: variable[0]) if has_quotes(word) else word


def expanded(word: str, values: Mapping[str, str]) -> str | None:
    """Return a word as HAProxy reads it, with environment variables expanded; None if a variable has neither a value nor a default."""
    absent = list[str]()

    def value_of(variable: re.Match[str]) -> str:
        value = values.get(variable[1] or variable[3]) or variable[2]
        if not value:
            absent.append(variable[0])
        return value or ""

    text = _read(word, value_of)
    return None if absent else text


def with_variables(word: str, value: str) -> str:
    """Return a word as HAProxy would read it if each environment variable in the word had the value `value`."""
    return _read(word, lambda _: value)


def has_variable(word: str) -> bool:
    """Return whether a word has an environment variable that HAProxy expands. HAProxy expands variables only in double quotes."""
    return '"' in word and "$" in word and _read(word, lambda _: "") != unquoted(word)


def _read(word: str, value_of: Callable[[re.Match[str]], str]) -> str:
    """Return a word without quotes and escapes. A variable in double quotes is replaced by the result of `value_of`."""
    out, at, quote = list[str](), 0, ""
    while at < len(word):
        sign = word[at]
        if quote == '"' and (variable := _VARIABLE.match(word, at)):
            out.append(value_of(variable))
            at = variable.end()
        elif stretch := _STRETCH[quote].match(word, at):
            out.append(stretch[0])
            at = stretch.end()
        elif sign in "\"'" and quote in ("", sign):
            quote = "" if quote else sign
            at += 1
        else:
            escape = _ESCAPE.match(word, at)
            # Only weak quotes have an escape for `$`.
            if escape and (quote == '"' or not escape[4]):
                out.append(escape[1] or escape[4] or _CONTROLS.get(escape[2] or "") or chr(int(escape[3], 16)))
                at = escape.end()
            else:
                out.append(sign)
                at += 1
    return "".join(out)


def normalized(word: str) -> str:
    """Return a word without the quotes and escapes that it does not need.

    A word with a variable is returned unchanged, because only HAProxy knows the value of the variable. A word with an unclosed quote is
    returned unchanged as well.
    """
    if not has_quotes(word) or not is_word(word):
        return word
    plain = unquoted(word)
    return plain if "$" not in plain and is_word(plain) and unquoted(plain) == plain else word
