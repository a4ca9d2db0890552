"""Find a name in a line by the patterns of openapi/haproxy/references.yaml, which describe lines and calls."""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from haproxy_native.grammar.conditions import CONDITIONS, is_or
from haproxy_native.grammar.synopsis import condition_at
from haproxy_native.text.line import Line
from haproxy_native.text.words import unquoted

NAME, ONE_OF, PARENT, MANY = "<>", "<,>", "<parent>", "..."
# (start, end, form): the range of characters in a text, and the form that replaces it, with `<>` for the name.
Edit = tuple[int, int, str]
_SIGNS = re.compile(r"<>|<,>|<parent>|\*|\|")
# A call of a sample fetch, a converter or an action, with its arguments.
_CALL = re.compile(r"(?<![\w.-])([A-Za-z_][\w.-]*)\(([^()]*)\)")
# A converter without parentheses after a call. After `str(...)`, the text counts as the converter's argument.
_NEXT = re.compile(r",([A-Za-z_][\w.-]*)(?![\w.(-])")
_TEXT = "str"
# Characters around an argument that are not part of it.
_AROUND = " \t\"'\\"
# An environment variable in a name.
_VARIABLE = re.compile(r"\$(?:\{([A-Za-z_.][\w.]*)\}|([A-Za-z_.][\w.]*))", re.ASCII)
# Words that end the patterns of a criterion.
_ENDS = frozenset(("}", *CONDITIONS))


class Span(NamedTuple):
    """A range of characters in a line's text."""

    start: int
    end: int


@dataclass(frozen=True)
class Word:
    """One word of a line."""

    # Without quotes and escapes.
    value: str
    # As it is written.
    raw: str
    # The index of its first character in the line.
    start: int

    def span(self, start: int, end: int) -> Span:
        """Convert a range of characters in `value` to a range in the line, which also contains the quotes and escapes of the word."""
        if self.raw == self.value:
            return Span(self.start + start, self.start + end)
        sizes = [len(unquoted(self.raw[:size])) for size in range(len(self.raw) + 1)]
        first = max(index for index, size in enumerate(sizes) if size <= start)
        last = next((index for index, size in enumerate(sizes) if size >= end and index > first), len(self.raw))
        # A quote that opens or closes inside the range belongs to it.
        for quote in "\"'":
            if self.raw.count(quote, first, last) % 2:
                first, last = (first, last + 1) if self.raw[last : last + 1] == quote else (first - 1, last)
        return Span(self.start + max(first, 0), self.start + last)


def words_of(line: Line) -> list[Word]:
    at, words = 0, []
    for gap, raw in zip(line.split.gaps, line.split.words, strict=True):
        words.append(Word(unquoted(raw), raw, at + len(gap)))
        at += len(gap) + len(raw)
    return words


@dataclass(frozen=True)
class Argument:
    """One argument of a call. `index`: its position in the call. `start`, `end`: its range in the value of the word."""

    function: str
    index: int
    text: str
    start: int
    end: int


def arguments(value: str) -> Iterator[Argument]:
    for call in _CALL.finditer(value):
        at = call.start(2)
        for index, part in enumerate(call[2].split(",")):
            text = part.strip(_AROUND)
            start = at + len(part) - len(part.lstrip(_AROUND))
            yield Argument(call[1], index, text, start, start + len(text))
            if call[1] == _TEXT and (converter := _NEXT.match(value, call.end())):
                yield Argument(converter[1], index, text, start, start + len(text))
            at += len(part) + 1


def name_pattern(name: str) -> str:
    """Return a regular expression that matches a name without quotes. HAProxy reads the variables `$X` and `${X}` alike."""
    at, parts = 0, list[str]()
    for variable in _VARIABLE.finditer(name):
        own = re.escape(variable[1] or variable[2])
        parts += [re.escape(name[at : variable.start()]), rf"\$(?:\{{{own}\}}|{own}(?![\w.]))"]
        at = variable.end()
    return "".join((*parts, re.escape(name[at:])))


def call_pattern(names: Sequence[str]) -> re.Pattern[str]:
    """Return a regular expression that matches any of the function names `names`. In a name, `*` stands for any characters."""
    return re.compile("|".join(re.escape(name).replace(r"\*", ".*") for name in names) or "(?!)")


class Pattern:
    """A pattern of a line. `<>` matches `name`, or any name if `name` is None. `values` maps signs such as `<parent>` to their texts."""

    def __init__(self, text: str, name: str | None, values: Mapping[str, str] | None = None) -> None:
        self._tokens = [token if token == MANY else _regex(token, name, values or {}) for token in text.split()]
        self._name_index = next(index for index, token in enumerate(text.split()) if NAME in token or ONE_OF in token)

    def spans(self, words: Sequence[Word]) -> Iterator[Span]:
        """Yield the range of the name for each match of the pattern in a line."""
        before, pattern = self._tokens[: self._name_index], self._tokens[self._name_index]
        for index, word in enumerate(words):
            if isinstance(pattern, re.Pattern) and (match := pattern.fullmatch(word.value)) and _match(before, words[:index]):
                yield word.span(*match.span("name"))


class CallPattern:
    """A pattern `function(argument)`, which finds the name in calls anywhere in a line."""

    def __init__(self, text: str, name: str, values: Mapping[str, str] | None = None) -> None:
        function, argument = text.removesuffix(")").split("(", 1)
        self._function, self._argument = call_pattern([function]), _regex(argument, name, values or {})

    def spans(self, words: Sequence[Word]) -> Iterator[Span]:
        for word in words:
            for argument in arguments(word.value) if "(" in word.value else ():
                if self._function.fullmatch(argument.function) and (match := self._argument.fullmatch(argument.text)):
                    start, end = match.span("name")
                    yield word.span(argument.start + start, argument.start + end)


class CriterionPattern:
    """Finds the name among the values with which a criterion is compared, in an ACL line or in braces."""

    def __init__(self, text: str, name: str, values: Mapping[str, str] | None = None) -> None:
        self._criterion, self._name = _regex(text, name, values or {}), re.compile(name_pattern(name))

    def spans(self, words: Sequence[Word]) -> Iterator[Span]:
        inside = False
        for word in words:
            if inside and self._name.fullmatch(word.value):
                yield word.span(0, len(word.value))
            inside = (inside and word.value not in _ENDS and not is_or(word.value)) or self._criterion.fullmatch(word.value) is not None


class ConditionPattern:
    """Finds the name of an ACL in the condition of a line, outside braces."""

    def __init__(self, name: str) -> None:
        self._name = re.compile(rf"!*({name_pattern(name)})")

    def spans(self, words: Sequence[Word]) -> Iterator[Span]:
        values, inside = [word.value for word in words], False
        for word in words[condition_at(values, 1) + 1 :]:
            inside = word.value in ("{", "!{") or (inside and word.value != "}")
            if not inside and (match := self._name.fullmatch(word.value)):
                yield word.span(*match.span(1))


def up_to_condition(words: Sequence[Word]) -> Sequence[Word]:
    return words[: condition_at([word.value for word in words], 1)]


def _match(tokens: Sequence[re.Pattern[str] | str], words: Sequence[Word]) -> bool:
    """Return whether the tokens of a pattern match all of the words. The token `...` matches any number of words."""
    if not tokens:
        return not words
    first, rest = tokens[0], tokens[1:]
    if isinstance(first, str):
        return any(_match(rest, words[size:]) for size in range(len(words) + 1))
    return bool(words) and first.fullmatch(words[0].value) is not None and _match(rest, words[1:])


def _regex(token: str, name: str | None, values: Mapping[str, str]) -> re.Pattern[str]:
    subject = f"(?P<name>{'.+' if name is None else name_pattern(name)})"
    meanings = {NAME: subject, ONE_OF: f"(?:[^,]+,)*{subject}(?:,[^,]+)*", "*": ".*", "|": "|"}
    at, parts = 0, list[str]()
    for sign in _SIGNS.finditer(token):
        parts += [re.escape(token[at : sign.start()]), meanings.get(sign[0]) or name_pattern(values.get(sign[0], ""))]
        at = sign.end()
    return re.compile("".join([*parts, re.escape(token[at:])]), re.DOTALL)
