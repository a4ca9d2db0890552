"""Prepare a configuration for checks: sections with statements, rules with conditions, inheritance, and facts about files.

Two properties of statements prevent false findings:

* A statement is *certain* unless it is between `.if` and `.endif`. Checks only report certain statements. They treat everything that an
  uncertain statement defines, names or sets as present.
* A statement is *known* unless it contains an environment variable. A check that depends on the value of the variable skips the statement.
"""

import posixpath
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from functools import cache, cached_property
from pathlib import Path
from typing import Any

from haproxy_native.editing.defaults_sections import DEFAULTS, all_inherited_defaults
from haproxy_native.editing.file_references import bases
from haproxy_native.grammar.conditions import CONDITIONS, UNLESS, suites
from haproxy_native.grammar.synopsis import condition_at
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted

# The options of a criterion that have a value, those that have none, and the word that ends the options.
_WITH_VALUE, _FLAGS, _END = ("-f", "-m"), ("-i", "-n", "-u", "-M"), "--"


@cache
def words() -> Mapping[str, Any]:
    """Return the table in words.toml: the keywords of HAProxy that checks look for."""
    return tomllib.loads(Path(__file__).with_name("words.toml").read_text())


@dataclass(frozen=True)
class FileFacts:
    """The facts about a file or directory that the configuration names."""

    exists: bool
    # The mode as in `st_mode`; 0 if it is unknown.
    mode: int = 0
    # Whether the file contains a private key.
    holds_key: bool = False
    # When the certificate in the file expires; None for any other file.
    expires: datetime | None = None
    # The paths in a directory or in a list of certificates.
    files: tuple[str, ...] = ()
    # The content of a map; None for any other file, or if it was not read.
    text: str | None = None


@dataclass(frozen=True)
class Facts:
    """What checks know in addition to the document."""

    # The directory in which relative paths begin, as far as it is known.
    directory: str = "/"
    # The present time; None if no file was read.
    now: datetime | None = None
    # The facts about files, by path; empty if no file was read.
    files: Mapping[str, FileFacts] = field(default_factory=dict)
    # The paths of stored files that nothing names.
    unused: Sequence[str] = ()
    # The backends that splits and service discovery use, even if no line names them.
    used_backends: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Test:
    """One term of a condition: a reference to an ACL, or an anonymous ACL."""

    # The name of the ACL; empty for an anonymous one.
    name: str
    # The words of an anonymous ACL.
    words: tuple[str, ...]
    is_negated: bool

    @property
    def key(self) -> str:
        """Return a text that is equal for equal tests."""
        return f"{'!' if self.is_negated else ''}{self.name or ' '.join(('{', *self.words))}"


@dataclass(frozen=True)
class Condition:
    """The condition of a rule."""

    # The index of the word `if` or `unless` in the rule. Without a condition, the number of its words.
    at: int
    # The alternatives, which `||` separates. All tests of one must be true. None for a rule without a condition.
    suites: tuple[tuple[Test, ...], ...] = ()
    # Whether the condition begins with `unless`.
    is_negative: bool = False

    @property
    def tests(self) -> Iterator[Test]:
        return (test for suite in self.suites for test in suite)


@dataclass(frozen=True)
class Criterion:
    """A sample and the patterns that it is compared with."""

    # The fetch with its converters.
    sample: str
    # The argument of the option `-m`; empty without it.
    method: str = ""
    # The files with patterns, from the options `-f`.
    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    # The options without a value, such as `-i`.
    flags: tuple[str, ...] = ()


def condition_of(words: Sequence[str], start: int) -> Condition:
    """Return the condition in the words of a rule, from the word `start` on."""
    at = condition_at(words, start)
    # Of several consecutive words `if`, the last one begins the condition. The others may be values, as of a header.
    while at + 1 < len(words) and words[at + 1] in CONDITIONS:
        at += 1
    if at == len(words):
        return Condition(at)
    return Condition(at, tuple(tuple(map(_parse_term, suite)) for suite in suites(words[at + 1 :])), words[at] == UNLESS)


def _parse_term(term: Sequence[str]) -> Test:
    """Parse one term of a condition. A sign of negation, `!`, may be a separate word."""
    text = "".join(term[: next((place for place, word in enumerate(term) if word.strip("!")), len(term)) + 1])
    name = text.lstrip("!")
    is_negated = (len(text) - len(name)) % 2 == 1
    if name != "{":
        return Test(name, (), is_negated)
    begin = next(place for place, word in enumerate(term) if word.endswith("{")) + 1
    return Test("", tuple(term[begin:-1] if term[-1] == "}" else term[begin:]), is_negated)


def criterion_of(words: Sequence[str]) -> Criterion:
    """Parse a criterion from the words after an ACL's name, or between braces."""
    sample, at = words[0] if words else "", 1
    method, files, flags = "", list[str](), list[str]()
    while at < len(words) and words[at] in (*_WITH_VALUE, *_FLAGS):
        if words[at] == "-f":
            files += words[at + 1 : at + 2]
        elif words[at] == "-m":
            method = "".join(words[at + 1 : at + 2])
        else:
            flags.append(words[at])
        at += 2 if words[at] in _WITH_VALUE else 1
    at += list(words[at : at + 1]) == [_END]
    return Criterion(sample, method, tuple(files), tuple(words[at:]), tuple(flags))


@dataclass(frozen=True, slots=True)
class Statement:
    """One line of a section."""

    # The index of its section in the document.
    place: int
    # The index of its line in the section.
    number: int
    # The words without quotes and backslashes.
    words: tuple[str, ...]
    # The words as they are written.
    raw: tuple[str, ...]
    # The line.
    text: str
    # Whether the statement is outside of `.if` and `.endif`.
    is_certain: bool

    def begins(self, *phrases: str) -> bool:
        """Return whether the statement begins with one of these phrases, of one or more words."""
        for phrase in map(_split, phrases):
            if self.words[0] == phrase[0] and (len(phrase) == 1 or self.words[: len(phrase)] == phrase):
                return True
        return False

    def after(self, *keywords: str) -> str:
        """Return the word after the first of the keywords in the statement; empty if there is no such word."""
        index = next((index for index, word in enumerate(self.words) if word in keywords), len(self.words))
        return self.words[index + 1] if index + 1 < len(self.words) else ""

    def has(self, *keywords: str) -> bool:
        """Return whether one of the keywords is in the statement."""
        return any(word in self.words for word in keywords)

    @property
    def is_known(self) -> bool:
        """Return whether the statement contains no environment variable."""
        return "$" not in self.text


@dataclass(frozen=True)
class Rule:
    """A statement that is a rule."""

    statement: Statement
    # The phrase that the statement begins with, such as `http-request`.
    family: str
    # The word after the family, such as `deny`; empty if the family has no actions.
    action: str
    condition: Condition

    @property
    def is_final(self) -> bool:
        """Return whether HAProxy skips the later rules of the family after this rule has applied."""
        final = words()["final"][self.family]
        name = self.action.partition("(")[0]
        return (not final or name in final) and not self.statement.has(*words()["not_final"])


@dataclass(eq=False)
class Scope:
    """A section with its statements, and the defaults section that it inherits from."""

    # Its index in the document.
    place: int
    kind: str
    name: str
    header: Statement
    # The statements after the header.
    statements: list[Statement]
    # The defaults section that it inherits from; None if there is none.
    source: "Scope | None" = field(default=None, repr=False)

    @cached_property
    def by_word(self) -> dict[str, list[Statement]]:
        """Return the statements by their first word."""
        statements: dict[str, list[Statement]] = {}
        for statement in self.statements:
            statements.setdefault(statement.words[0], []).append(statement)
        return statements

    def own(self, *phrases: str) -> list[Statement]:
        """Return the statements of the section that begin with one of the phrases."""
        known = self.by_word
        first = dict.fromkeys(word for phrase in phrases if (word := _split(phrase)[0]) in known)
        return [statement for word in first for statement in known[word] if statement.begins(*phrases)]

    @cached_property
    def chain(self) -> list["Scope"]:
        """Return the section itself, followed by the sections that it inherits from, the nearest first."""
        scopes = [self]
        while (source := scopes[-1].source) and source not in scopes:
            scopes.append(source)
        return scopes

    def all(self, *phrases: str) -> list[Statement]:
        """Return the own and the inherited statements of the section that begin with one of the phrases."""
        return [statement for scope in self.chain for statement in scope.own(*phrases)]

    def last(self, *phrases: str) -> Statement | None:
        """Return the last own statement of the section that begins with one of the phrases, or else the last inherited statement."""
        return next((statements[-1] for scope in self.chain if (statements := scope.own(*phrases))), None)

    @cached_property
    def rules(self) -> list[Rule]:
        """Return the rules of the section in their order."""
        families, rules = words()["families"], list[Rule]()
        for statement in self.statements:
            family = next((family for family in families.get(statement.words[0], ()) if statement.begins(family)), "")
            if not family:
                continue
            size = len(_split(family))
            has_action = bool(words()["final"][family]) and len(statement.words) > size
            action = statement.words[size] if has_action else ""
            rules.append(Rule(statement, family, action, condition_of(statement.words, size)))
        return rules

    @cached_property
    def acls(self) -> dict[str, list[Statement]]:
        """Return the ACL lines of the section, by the name of the ACL."""
        acls_: dict[str, list[Statement]] = {}
        for statement in self.by_word.get(words()["acl_line"], ()):
            if len(statement.words) > 2:
                acls_.setdefault(statement.words[1], []).append(statement)
        return acls_

    def criteria(self, rule: Rule, *, positive: bool = False) -> Iterator[Criterion]:
        """Yield the criteria of a rule's condition and of the ACLs that it names. With `positive`, negated tests are skipped."""
        for test in rule.condition.tests:
            if positive and (test.is_negated or rule.condition.is_negative):
                continue
            if not test.name:
                yield criterion_of(test.words)
            for statement in self.acls.get(test.name, ()) if test.name else ():
                yield criterion_of(statement.words[2:])

    @cached_property
    def mode(self) -> str:
        """Return the mode of a proxy; empty if an environment variable or `.if` determines the mode."""
        mode_line = self.last("mode")
        if mode_line is None:
            return str(words()["usual_mode"])
        return mode_line.words[1] if mode_line.is_certain and mode_line.is_known and len(mode_line.words) > 1 else ""

    @property
    def is_listening(self) -> bool:
        return self.kind in words()["listening"]

    @property
    def is_serving(self) -> bool:
        return self.kind in words()["serving"]

    @property
    def title(self) -> str:
        return f"{self.kind} {self.name}".rstrip()


class View:
    """One document, prepared for checks, with facts about the files that it names."""

    def __init__(self, document: Document, facts: Facts | None = None) -> None:
        self.document, self.facts = document, facts or Facts()
        self.scopes: list[Scope] = []
        defaults: dict[str, Scope] = {}
        depth = 0
        for place, (section, name) in enumerate(zip(document.sections, document.names(), strict=True)):
            if section.kind == BOUNDARY:
                depth = 0
                continue
            header, statements, depth = _parse_statements(section, place, depth)
            self.scopes.append(Scope(place, section.kind, unquoted(name), header, statements))
            if section.kind == DEFAULTS:
                defaults.setdefault(name, self.scopes[-1])
        sources = all_inherited_defaults(document)
        for scope in self.scopes:
            scope.source = defaults.get(sources[scope.place] or "")

    @cached_property
    def proxies(self) -> list[Scope]:
        """Return the proxies, without defaults sections."""
        return [scope for scope in self.scopes if scope.is_listening or scope.is_serving]

    def of_kind(self, *kinds: str) -> list[Scope]:
        return [scope for scope in self.scopes if scope.kind in kinds]

    @cached_property
    def by_place(self) -> dict[int, Scope]:
        return {scope.place: scope for scope in self.scopes}

    @cached_property
    def defaults(self) -> frozenset[str]:
        """Return the names of the defaults sections."""
        return frozenset(scope.name for scope in self.of_kind(DEFAULTS))

    @cached_property
    def directories(self) -> list[str]:
        """Return the directories in which relative paths may begin."""
        table, directories = words()["files"], [*bases(self.document, self.facts.directory)]
        for scope in self.of_kind(words()["global"]["section"]):
            for statement in scope.own(table["default_path"]):
                if statement.begins(f"{table['default_path']} {table['origin']}"):
                    directories += statement.words[2:3]
                directories.append(posixpath.dirname(self.facts.directory))
        return directories

    @cached_property
    def first_words(self) -> frozenset[str]:
        """Return the words that any statement begins with."""
        return frozenset(word for scope in self.scopes for word in scope.by_word)


def _parse_statements(section: Section, place: int, depth: int) -> tuple[Statement, list[Statement], int]:
    """Return the header of a section, its other statements, and the number of open `.if` at its end.

    `place` is the index of the section in the document. `depth` is the number of open `.if` before the section.
    """
    statements = []
    for number, line in enumerate(section.lines):
        if not line.words:
            continue
        first = line.words[0]
        if first.startswith("."):
            depth = max(0, depth + (first == ".if") - (first == ".endif"))
        else:
            values = tuple(map(unquoted, line.words)) if "\\" in line.text or '"' in line.text or "'" in line.text else line.words
            statements.append(Statement(place, number, values, line.words, line.text, depth == 0))
    return statements[0], statements[1:], depth


@cache
def _split(phrase: str) -> tuple[str, ...]:
    return tuple(phrase.split())
