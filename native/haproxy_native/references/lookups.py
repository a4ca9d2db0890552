"""Find references that HAProxy resolves for each request, and lines that may contain a reference which cannot be traced.

A line such as `use_backend %[path,map(/etc/hosts.map)]` computes a name. The search traces the name through maps, constant texts and
variables. Anything else that may compute the name (environment variables, other samples, Lua, SPOE agents) is returned as `Lost`, with a
reason.
"""

import posixpath
import re
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from haproxy_native.editing.file_references import bases, real_path
from haproxy_native.references.kinds import lookups
from haproxy_native.references.lines import ARGUMENT, ReferenceTarget, Spot, kinds_of
from haproxy_native.references.pattern import (
    NAME,
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
    """A line that may refer to the object, but that the search cannot trace."""

    why: str
    # The indices of the section and of the line in it. In another file, `section_index` is -1 and `line` is the line number, from 1.
    section_index: int = -1
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

    `directory`: the base of relative paths if the configuration does not set a base. `read`: returns the text of a file.
    """

    def __init__(self, document: Document, target: ReferenceTarget, directory: str, read: Read) -> None:
        self._document, self._target, self._read = document, target, read
        self._bases = bases(document, directory)
        self._maps, self._variables, self._texts = (call_pattern(name) for name in (lookups().maps, lookups().variables, lookups().texts))
        self._setters, self._writers = call_pattern(lookups().setters), call_pattern(lookups().writers)
        self._name = re.compile(name_pattern(target.name))
        # By the path of a map: (index of the section, index of the line) of the lines that use the map.
        self._lines_by_map: dict[str, list[tuple[int, int]]] = {}

    def search(self) -> LookupResult:
        """Return the references to the object that HAProxy resolves for each request; none if lines cannot compute such a name."""
        result = LookupResult()
        directives = {word for kind in kinds_of(self._target.kind) for word in kind.dynamic}
        if directives and not self._target.only_table:
            self._trace_lines(directives, result)
            self._search_maps(result)
            result.lost += self._search_scripts_and_agents()
        return result

    # -- lines that compute names

    @cached_property
    def _words_of_lines(self) -> list[tuple[int, int, list[Word]]]:
        """Return (index of the section, index of the line, words) of each line that may have a computed name, variable, script or agent."""
        # Searching a text is faster than parsing it.
        signs = ["%", "$", "(", LUA, *lookups().scripts, *(form.split()[1] for form in lookups().agents)]
        return [
            (section_index, number, words)
            for section_index, section in enumerate(self._document.sections)
            for number, line in enumerate(section.lines[1:], 1)
            if any(sign in line.text for sign in signs) and (words := words_of(line))
        ]

    def _trace_lines(self, directives: Collection[str], result: LookupResult) -> None:
        """Add the references in lines that compute a name of the object's kind, and in lines that set variables which such lines use.

        Record the maps that these lines use. `directives`: the first words of lines that compute a name.
        """
        # Lines to trace, with the words that compute the name or the value of a variable.
        lines: list[tuple[int, int, Sequence[Word]]] = []
        for section_index, number, words in self._words_of_lines:
            if len(words) < 2 or words[0].value not in directives or not set("%$") & set(words[1].value):
                continue
            section = self._document.sections[section_index].kind, unquoted(self._document.names()[section_index])
            if not self._target.is_section and section != self._target.section:
                continue
            lines.append((section_index, number, words[1:2]))
            text = words[1].value
            if not self._name.fullmatch(text) and self._may_produce_name(text, followed=set()):
                is_variable = "$" in text and "%[" not in text
                why = "an environment variable sets the name" if is_variable else "the name is computed for each request"
                result.lost.append(Lost(why, section_index, number))
        followed: set[str] = set()
        while lines:
            section_index, number, computing = lines.pop()
            variables: set[str] = set()
            for word in computing:
                if self._name.fullmatch(word.value):
                    result.spots.append(Spot(section_index, number, word.span(0, len(word.value)), ARGUMENT))
                for argument in arguments(word.value):
                    if self._variables.fullmatch(argument.function):
                        variables.add(argument.text)
                    if self._maps.fullmatch(argument.function) and argument.index == 0:
                        self._lines_by_map.setdefault(self._path(argument.text), []).append((section_index, number))
                    elif self._name.fullmatch(argument.text):
                        result.spots.append(Spot(section_index, number, word.span(argument.start, argument.end), ARGUMENT))
            for variable in sorted(variables - followed):
                lines += self._lines_that_set(variable)
            followed |= variables

    def _lines_that_set(self, variable: str) -> Iterator[tuple[int, int, list[Word]]]:
        """Yield (index of the section, index of the line, words of the value) for each line that sets `variable`."""
        for section_index, number, words in self._words_of_lines:
            plain = list(up_to_condition(words))
            for at, word in enumerate(plain):
                named = (each for each in arguments(word.value) if each.index == 0 and each.text == variable)
                if any(self._setters.fullmatch(argument.function) for argument in named):
                    yield section_index, number, plain[at + 1 :]

    # -- whether a name may be computed in a way that cannot be traced

    def _may_produce_name(self, word: str, followed: set[str]) -> bool:
        """Return whether a word may produce the object's name in a way that cannot be traced. `followed`: the variables already traced."""
        if "$" in word:
            return True
        expressions = _EXPRESSION.findall(word)
        if len(expressions) == 1 and _EXPRESSION.fullmatch(word):
            return self._is_open(expressions[0], followed)
        pattern = ".*".join(re.escape(part) for part in _EXPRESSION.split(word)[::2])
        return bool(expressions) and re.fullmatch(pattern, self._target.name) is not None

    def _is_open(self, expression: str, followed: set[str]) -> bool:
        """Return whether a sample expression may return any text.

        This is not the case if its last call is a map, a constant text, or a variable whose values can be traced.
        """
        call = _IN_PARENTHESES.sub(lambda match: match[0].replace(",", "\0"), expression).split(",")[-1]
        function, _, rest = call.strip().partition("(")
        first_argument = rest.removesuffix(")").partition("\0")[0].strip()
        if self._maps.fullmatch(function) or self._texts.fullmatch(function):
            return False
        if not self._variables.fullmatch(function):
            return True
        if first_argument in followed:
            return False
        values = ["".join(word.value for word in words) for _, _, words in self._lines_that_set(first_argument)]
        followed = followed | {first_argument}
        for value in values:
            if "%[" in value or "$" in value:
                if self._may_produce_name(value, followed):
                    return True
            elif "(" in value and self._is_open(value, followed):
                return True
        return not values

    # -- files

    def _path(self, text: str) -> str:
        return PREFIX.sub("", text) if text.startswith("virt@") else self._absolute(PREFIX.sub("", text))

    def _absolute(self, text: str) -> str:
        paths = [real_path(posixpath.join(base, text)) for base in self._bases]
        return next((path for path in paths if self._read(path) is not None), paths[0])

    def _search_maps(self, result: LookupResult) -> None:
        """Add the entries of the recorded maps whose value is the object's name, and the lines that use or change these maps."""
        for path, lines in self._lines_by_map.items():
            text = self._read(path)
            if text is None:
                result.lost.append(Lost("the map cannot be read, or has no file", *lines[0], path=path))
                continue
            entries = list(entries_with_value(path, text, self._target.name))
            result.entries += entries
            result.through += [Spot(*line, None, MAP) for line in lines if entries]
        for section_index, number, words in self._words_of_lines:
            for argument in (argument for word in words for argument in arguments(word.value)):
                if argument.index == 0 and self._writers.fullmatch(argument.function) and self._path(argument.text) in self._lines_by_map:
                    result.lost.append(Lost("the line also changes the map at runtime", section_index, number))

    def _search_scripts_and_agents(self) -> Iterator[Lost]:
        """Yield lines of Lua scripts and SPOE files that may refer to the object, and lines of the configuration that pass its name to Lua.

        Also yield lines that load a script which cannot be read.
        """
        name = re.compile(rf"(?<![\w.:-]){re.escape(self._target.name)}(?![\w.:-])")
        scripts = set(lookups().scripts)
        in_agents = [Pattern(form, self._target.name) for kind in kinds_of(self._target.kind) for form in kind.spoe]
        for section_index, number, words in self._words_of_lines:
            plain = [word.value for word in up_to_condition(words)]
            action = next((index for index, word in enumerate(plain) if word.startswith(LUA)), len(plain))
            calls = (argument for word in words for argument in arguments(word.value) if argument.function.startswith(LUA))
            if self._target.name in plain[action + 1 :] or any(argument.text == self._target.name for argument in calls):
                yield Lost("the line passes the name to Lua, where it may mean something else", section_index, number)
            if words[0].value in scripts and len(words) > 1:
                path = self._absolute(words[1].value)
                if (script := self._read(path)) is None:
                    yield Lost(f"the script {path} cannot be read", section_index, number)
                for line, text in enumerate((script or "").split("\n"), 1):
                    if name.search(text):
                        yield Lost("a script contains the name", path=path, line=line, text=text.strip())
            for span in (span for pattern in lookups().agents for span in Pattern(pattern, None).spans(words)):
                own = self._document.sections[section_index].lines[number].text
                path = self._absolute(unquoted(own[span.start : span.end]))
                for line, text in enumerate((self._read(path) or "").split("\n"), 1):
                    words_ = words_of(Line(text))
                    if any(list(pattern.spans(words_)) for pattern in in_agents):
                        yield Lost("an SPOE file names it; edit that file separately", path=path, line=line, text=text.strip())


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
