"""A configuration as checks read it: sections with statements, their rules with conditions, and what is inherited. Pure.

What stands between `.if` and `.endif` may be there or not: it is not certain. Such a line is never found at fault, and what it may define,
name or set counts as there.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, TypeVar

from haproxy_native.editing.defaults_sections import DEFAULTS, all_inherited_defaults
from haproxy_native.features.lint.conditions import Condition, Criterion, condition_of, criterion_of
from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.facts import Facts
from haproxy_native.text.document import Document
from haproxy_native.text.section import BOUNDARY, Section
from haproxy_native.text.words import unquoted

Known = TypeVar("Known")


@dataclass(frozen=True, slots=True)
class Statement:
    """One line. `place` and `number` count sections and lines from 0; `raw` are its words as they are written."""

    place: int
    number: int
    words: tuple[str, ...]
    raw: tuple[str, ...]
    text: str
    is_certain: bool

    def begins(self, *phrases: str) -> bool:
        for phrase in map(_split, phrases):
            if self.words[0] == phrase[0] and (len(phrase) == 1 or self.words[: len(phrase)] == phrase):
                return True
        return False

    def behind(self, *wanted: str) -> str:
        """The word behind the first of these that is there; empty without one."""
        place = next((place for place, word in enumerate(self.words) if word in wanted), len(self.words))
        return self.words[place + 1] if place + 1 < len(self.words) else ""

    def has(self, *wanted: str) -> bool:
        return any(word in self.words for word in wanted)

    def is_open(self, place: int) -> bool:
        """Whether a variable of the environment gives the word, or some of it."""
        return "$" in self.raw[place]

    @property
    def is_known(self) -> bool:
        """Whether no variable of the environment stands in it."""
        return "$" not in self.text


@dataclass(frozen=True)
class Rule:
    """`family` begins the statement, as in `http-request`; `action` is the word behind it, empty where there is none."""

    statement: Statement
    family: str
    action: str
    condition: Condition

    @property
    def is_final(self) -> bool:
        """Whether no further rule of its family is evaluated where it applies."""
        final = words()["final"][self.family]
        name = self.action.partition("(")[0]
        return (not final or name in final) and not self.statement.has(*words()["not_final"])


@dataclass(eq=False)
class Scope:
    """A section. `source`: the defaults section that it inherits from."""

    place: int
    kind: str
    name: str
    header: Statement
    statements: list[Statement]
    source: "Scope | None" = field(default=None, repr=False)

    @cached_property
    def by_word(self) -> dict[str, list[Statement]]:
        """Statements by their first word."""
        statements: dict[str, list[Statement]] = {}
        for statement in self.statements:
            statements.setdefault(statement.words[0], []).append(statement)
        return statements

    def own(self, *phrases: str) -> list[Statement]:
        """Statements that begin so."""
        known = self.by_word
        first = dict.fromkeys(word for phrase in phrases if (word := _split(phrase)[0]) in known)
        return [statement for word in first for statement in known[word] if statement.begins(*phrases)]

    @cached_property
    def chain(self) -> list["Scope"]:
        """It, and what it inherits from."""
        scopes = [self]
        while (source := scopes[-1].source) and source not in scopes:
            scopes.append(source)
        return scopes

    def all(self, *phrases: str) -> list[Statement]:
        """Statements that begin so, with the inherited ones."""
        return [statement for scope in self.chain for statement in scope.own(*phrases)]

    def last(self, *phrases: str) -> Statement | None:
        """The statement that holds: the last of its own, else of what it inherits."""
        return next((statements[-1] for scope in self.chain if (statements := scope.own(*phrases))), None)

    @cached_property
    def rules(self) -> list[Rule]:
        families = words()["families"]
        return [
            _rule(statement, family)
            for statement in self.statements
            for family in [next((one for one in families.get(statement.words[0], ()) if statement.begins(one)), "")]
            if family
        ]

    @cached_property
    def acls(self) -> dict[str, list[Statement]]:
        acls_: dict[str, list[Statement]] = {}
        for statement in self.by_word.get(words()["acl_line"], ()):
            if len(statement.words) > 2:
                acls_.setdefault(statement.words[1], []).append(statement)
        return acls_

    def criteria(self, rule: Rule, *, positive: bool = False) -> Iterator[Criterion]:
        """What the tests of a rule's condition ask, those of named ACLs as well; `positive`: of what must hold alone."""
        for test in rule.condition.tests:
            if positive and (test.is_negated or rule.condition.is_negative):
                continue
            if not test.name:
                yield criterion_of(test.words)
            for statement in self.acls.get(test.name, ()) if test.name else ():
                yield criterion_of(statement.words[2:])

    @cached_property
    def mode(self) -> str:
        """Returns a proxy's mode; empty if it cannot be known."""
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
    """A view of one document, with facts about the files that it names."""

    def __init__(self, document: Document, facts: Facts | None = None) -> None:
        self.document, self.facts = document, facts or Facts()
        self.scopes = list(_scopes(document))
        self._cache: dict[str, Any] = {}

    def cached(self, name: str, make: "Callable[[View], Known]") -> "Known":
        """What `make` gives of this view, made once."""
        if name not in self._cache:
            self._cache[name] = make(self)
        value: Known = self._cache[name]
        return value

    @cached_property
    def proxies(self) -> list[Scope]:
        """Returns the proxies, without defaults sections."""
        return [scope for scope in self.scopes if scope.is_listening or scope.is_serving]

    def of_kind(self, *kinds: str) -> list[Scope]:
        return [scope for scope in self.scopes if scope.kind in kinds]

    @cached_property
    def by_place(self) -> dict[int, Scope]:
        return {scope.place: scope for scope in self.scopes}

    @cached_property
    def defaults(self) -> frozenset[str]:
        """The names of sections of defaults."""
        return frozenset(scope.name for scope in self.of_kind(DEFAULTS))

    @cached_property
    def first_words(self) -> frozenset[str]:
        return frozenset(word for scope in self.scopes for word in scope.by_word)


def _scopes(document: Document) -> Iterator[Scope]:
    scopes: list[Scope] = []
    defaults: dict[str, Scope] = {}
    depth = 0
    for place, (section, name) in enumerate(zip(document.sections, document.names(), strict=True)):
        if section.kind == BOUNDARY:
            depth = 0
            continue
        header, statements, depth = _statements(section, place, depth)
        scopes.append(Scope(place, section.kind, unquoted(name), header, statements))
        if section.kind == DEFAULTS:
            defaults.setdefault(name, scopes[-1])
    sources = all_inherited_defaults(document)
    for scope in scopes:
        scope.source = defaults.get(sources[scope.place] or "")
    yield from scopes


def _statements(section: Section, place: int, depth: int) -> tuple[Statement, list[Statement], int]:
    """The header, the other lines, and how many `.if` are open behind them."""
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


def _rule(statement: Statement, family: str) -> Rule:
    size = len(_split(family))
    has_action = bool(words()["final"][family])
    action = statement.words[size] if has_action and len(statement.words) > size else ""
    return Rule(statement, family, action, condition_of(statement.words, size))
