"""Find references that HAProxy resolves for each request, and places where a reference cannot be excluded. Pure.

A line such as `use_backend %[path,map(/etc/hosts.map)]` computes a name. The search traces the name through maps, constant texts and
variables. Anything else that may compute the name (environment variables, other samples, Lua, SPOE agents) is returned as `Lost`, with a
reason.
"""

import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from haproxy_native.editing.file_references import bases, real_path
from haproxy_native.references.kinds import lookups
from haproxy_native.references.lines import ARGUMENT, ReferenceTarget, Spot, kinds_of
from haproxy_native.references.pattern import (
    NAME,
    Argument,
    Pattern,
    Word,
    arguments,
    call_pattern,
    name_pattern,
    up_to_condition,
    words_of,
)
from haproxy_native.storage.list_files import content_of, parse_map_line
from haproxy_native.text.document import Document
from haproxy_native.text.line import Line
from haproxy_native.text.words import unquoted

# Returns the text of a file; None if it cannot be read.
Read = Callable[[str], str | None]
MAP, LIST, PREFIX = "map", "list", re.compile(r"(?:opt|virt|file)@")
LUA = "lua."
_EXPRESSION = re.compile(r"%\[((?:(?!%\[)[^\]\"']|\"[^\"]*\"|'[^']*')*)\]")
_IN_PARENTHESES = re.compile(r"\([^()]*\)")


@dataclass(frozen=True)
class ReferringEntry:
    """A reference in a file other than the configuration."""

    path: str
    # From 1.
    line: int
    text: str
    # A range of characters in the whole text.
    start: int
    end: int
    # The form of the reference; empty for the value of a map entry.
    how: str = ""
    # The text that replaces the range in a renaming, with `<>` for the new name.
    form: str = NAME


@dataclass(frozen=True)
class Lost:
    """A place that may refer to the object, but that the search cannot trace."""

    why: str
    # Indices of section and line as in `Spot`. In another file, `place` is -1 and `line` is the line number, from 1.
    place: int = -1
    line: int = 0
    path: str = ""
    text: str = ""


@dataclass
class LookupResult:
    """The references that a `Lookup` found."""

    # References by words with the object's name in lines that compute names.
    spots: list[Spot] = field(default_factory=list)
    # Lines that use a map in which the object's name is a value.
    through: list[Spot] = field(default_factory=list)
    entries: list[ReferringEntry] = field(default_factory=list)
    lost: list[Lost] = field(default_factory=list)


class Lookup:
    """Searches for references to one object by names that HAProxy computes for each request.

    `directory`: the base of relative paths if the configuration does not set one. `read`: returns the text of a file.
    """

    def __init__(self, document: Document, wanted: ReferenceTarget, directory: str, read: Read) -> None:
        self._document, self._wanted, self._read = document, wanted, read
        self._bases = bases(document, directory)
        self._maps, self._variables, self._texts = (call_pattern(name) for name in (lookups().maps, lookups().variables, lookups().texts))
        self._setters, self._writers = call_pattern(lookups().setters), call_pattern(lookups().writers)
        self._name = re.compile(name_pattern(wanted.name))
        self._asked: dict[str, list[tuple[int, int]]] = {}

    def found(self) -> LookupResult:
        result = LookupResult()
        if _dynamic(self._wanted) and not self._wanted.only_table:
            self._add_lines(result)
            self._add_maps(result)
            result.lost += self._by_others()
        return result

    # -- lines that compute names

    @cached_property
    def _words_of_lines(self) -> list[tuple[int, int, list[Word]]]:
        return [
            (place, number, words)
            for place, section in enumerate(self._document.sections)
            for number, line in enumerate(section.lines[1:], 1)
            if _may_matter(line) and (words := words_of(line))
        ]

    def _add_lines(self, found: LookupResult) -> None:
        followed: set[str] = set()
        left = [(place, number, words[1:2]) for place, number, words in self._words_of_lines if self._is_dynamic(place, words)]
        for place, number, words in left:
            if words and not self._name.fullmatch(words[0].value) and self._may_produce_name(words[0].value, followed=set()):
                found.lost.append(Lost(self._why(words[0].value), place, number))
        while left:
            place, number, words = left.pop()
            self._add_line(found, place, number, words)
            variables = {
                argument.text for word in words for argument in arguments(word.value) if self._variables.fullmatch(argument.function)
            } - followed
            followed |= variables
            left += [name for variable in sorted(variables) for name in self._lines_that_set(variable)]

    def _is_dynamic(self, place: int, words: Sequence[Word]) -> bool:
        kind, section = self._wanted.kind, self._document.sections[place]
        if len(words) < 2 or words[0].value not in _dynamic(self._wanted) or not set("%$") & set(words[1].value):
            return False
        return "/" not in kind.name or (section.kind, unquoted(self._document.names()[place])) == self._wanted.section

    def _add_line(self, found: LookupResult, place: int, number: int, words: Sequence[Word]) -> None:
        for word in words:
            if self._name.fullmatch(word.value):
                found.spots.append(Spot(place, number, word.span(0, len(word.value)), ARGUMENT))
            for argument in arguments(word.value):
                if self._maps.fullmatch(argument.function) and argument.place == 0:
                    self._asked.setdefault(self._path(argument.text), []).append((place, number))
                elif self._name.fullmatch(argument.text):
                    found.spots.append(Spot(place, number, word.span(argument.start, argument.end), ARGUMENT))

    def _lines_that_set(self, variable: str) -> Iterator[tuple[int, int, list[Word]]]:
        """Yield (index of the section, index of the line, words of the value) for each line that sets a variable."""
        for place, number, words in self._words_of_lines:
            plain = list(up_to_condition(words))
            for at, word in enumerate(plain):
                if any(self._sets(argument, variable) for argument in arguments(word.value)):
                    yield place, number, plain[at + 1 :]

    def _sets(self, argument: Argument, variable: str) -> bool:
        return argument.place == 0 and argument.text == variable and self._setters.fullmatch(argument.function) is not None

    # -- whether a name may be computed in a way that cannot be traced

    def _may_produce_name(self, word: str, followed: set[str]) -> bool:
        """Return whether a word may produce the object's name in a way that cannot be traced. `followed`: the variables already traced."""

        if "$" in word:
            return True
        expressions = _EXPRESSION.findall(word)
        if len(expressions) == 1 and _EXPRESSION.fullmatch(word):
            return self._is_open(expressions[0], followed)
        pattern = ".*".join(re.escape(part) for part in _EXPRESSION.split(word)[::2])
        return bool(expressions) and re.fullmatch(pattern, self._wanted.name) is not None

    def _is_open(self, expression: str, followed: set[str]) -> bool:
        last = list(_calls(expression))[-1:]
        if not last:
            return True
        function, text = last[0]
        if self._maps.fullmatch(function) or self._texts.fullmatch(function):
            return False
        if not self._variables.fullmatch(function) or text in followed:
            return not self._variables.fullmatch(function)
        given = [words for _, _, words in self._lines_that_set(text)]
        return not given or any(self._is_open_value(words, followed | {text}) for words in given)

    def _is_open_value(self, words: Sequence[Word], followed: set[str]) -> bool:
        value = "".join(word.value for word in words)
        if "%[" in value or "$" in value:
            return self._may_produce_name(value, followed)
        return "(" in value and self._is_open(value, followed)

    def _why(self, word: str) -> str:
        if "$" in word and "%[" not in word:
            return "an environment variable sets the name"
        return "the name is computed for each request"

    # -- files

    def _path(self, text: str) -> str:
        return PREFIX.sub("", text) if text.startswith("virt@") else self._absolute(PREFIX.sub("", text))

    def _absolute(self, text: str) -> str:
        paths = [real_path(posixpath.join(base, text)) for base in self._bases]
        return next((path for path in paths if self._read(path) is not None), paths[0])

    def _add_maps(self, found: LookupResult) -> None:
        for path, places in self._asked.items():
            text = self._read(path)
            if text is None:
                found.lost.append(Lost("the map cannot be read, or has no file", *places[0], path=path))
                continue
            entries = list(entries_with_value(path, text, self._wanted.name))
            found.entries += entries
            found.through += [Spot(*place, None, MAP) for place in places if entries]
        for place, number, words in self._words_of_lines:
            for argument in (argument for word in words for argument in arguments(word.value)):
                if argument.place == 0 and self._writers.fullmatch(argument.function) and self._path(argument.text) in self._asked:
                    found.lost.append(Lost("the line also changes the map at runtime", place, number))

    def _by_others(self) -> Iterator[Lost]:
        """Yield the places in Lua scripts and SPOE files that may refer to the object, and the lines that pass its name to Lua."""
        name = re.compile(rf"(?<![\w.:-]){re.escape(self._wanted.name)}(?![\w.:-])")
        scripts = set(lookups().scripts)
        for place, number, words in self._words_of_lines:
            if self._is_passed_to_lua(words):
                yield Lost("the line passes the name to Lua, where it may mean something else", place, number)
            if words[0].value in scripts and len(words) > 1:
                yield from self._in_script(place, number, self._absolute(words[1].value), name)
            for span in (span for pattern in lookups().agents for span in Pattern(pattern, None).spans(words)):
                line = self._document.sections[place].lines[number]
                path = self._absolute(unquoted(line.text[span.start : span.end]))
                yield from self._in_agent(path, self._read(path) or "")

    def _is_passed_to_lua(self, words: Sequence[Word]) -> bool:
        """Return whether the object's name is an argument of a Lua action, fetch or converter."""
        name, plain = self._wanted.name, [word.value for word in up_to_condition(words)]
        action = next((place for place, word in enumerate(plain) if word.startswith(LUA)), len(plain))
        calls = (argument for word in words for argument in arguments(word.value))
        return name in plain[action + 1 :] or any(call.text == name and call.function.startswith(LUA) for call in calls)

    def _in_script(self, place: int, number: int, path: str, name: re.Pattern[str]) -> Iterator[Lost]:
        text = self._read(path)
        if text is None:
            yield Lost(f"the script {path} cannot be read", place, number)
        for line, line_text in enumerate((text or "").split("\n"), 1):
            if name.search(line_text):
                yield Lost("a script contains the name", path=path, line=line, text=line_text.strip())

    def _in_agent(self, path: str, text: str) -> Iterator[Lost]:
        patterns = [Pattern(form, self._wanted.name) for kind in kinds_of(self._wanted.kind) for form in kind.spoe]
        for line, line_text in enumerate(text.split("\n"), 1):
            words = words_of(Line(line_text))
            if any(list(pattern.spans(words)) for pattern in patterns):
                yield Lost("an SPOE file names it; edit that file separately", path=path, line=line, text=line_text.strip())


def _dynamic(wanted: ReferenceTarget) -> Sequence[str]:
    return [word for kind in kinds_of(wanted.kind) for word in kind.dynamic]


def _may_matter(line: Line) -> bool:
    """Return False only if a line certainly has no computed name, variable, script or agent. This test is faster than parsing the line."""
    return any(sign in line.text for sign in ("%", "$", "(", LUA)) or any(word in line.text for word in _loaded())


def _loaded() -> list[str]:
    return [*lookups().scripts, *(form.split()[1] for form in lookups().agents)]


def _calls(expression: str) -> Iterator[tuple[str, str]]:
    """Yield (function, first argument) for the sample fetch of an expression, and for each of its converters."""
    inner = _IN_PARENTHESES.sub(lambda match: match[0].replace(",", "\0"), expression)
    for part in inner.split(","):
        function, _, rest = part.strip().partition("(")
        yield function, rest.removesuffix(")").partition("\0")[0].strip()


def entries_with_value(path: str, text: str, value: str) -> Iterator[ReferringEntry]:
    """Yield the entries whose value is `value` in the map that has this path and text."""
    at = 0
    for number, line in enumerate(text.split("\n"), 1):
        entry = parse_map_line(line) if value in line else None
        if entry and entry.value == value:
            content = content_of(line)
            end = at + len(content)
            yield ReferringEntry(path, number, content.lstrip(" \t"), end - len(value), end)
        at += len(line) + 1
