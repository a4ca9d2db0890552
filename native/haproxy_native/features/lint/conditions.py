"""Conditions and the criteria of ACLs as values. Pure."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from haproxy_native.grammar.conditions import CONDITIONS, UNLESS, suites
from haproxy_native.grammar.synopsis import condition_at

# Options of a criterion with a value, and without.
_WITH_VALUE, _FLAGS, _END = ("-f", "-m"), ("-i", "-n", "-u", "-M"), "--"


@dataclass(frozen=True)
class Test:
    """One term: the name of an ACL, or the words of an anonymous one."""

    name: str
    words: tuple[str, ...]
    is_negated: bool

    @property
    def key(self) -> str:
        return f"{'!' if self.is_negated else ''}{self.name or ' '.join(('{', *self.words))}"


@dataclass(frozen=True)
class Condition:
    """`suites`: what `||` parts; a rule without a condition has none. `at`: the word `if` or `unless`."""

    at: int
    suites: tuple[tuple[Test, ...], ...] = ()
    is_negative: bool = False

    @property
    def tests(self) -> Iterator[Test]:
        return (test for suite in self.suites for test in suite)


@dataclass(frozen=True)
class Criterion:
    """`sample`: fetch and converters. `method`: of `-m`, empty without it."""

    sample: str
    method: str = ""
    files: tuple[str, ...] = ()
    patterns: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()


def condition_of(words: Sequence[str], start: int) -> Condition:
    at = condition_at(words, start)
    # The value of a header may be the word itself.
    while at + 1 < len(words) and words[at + 1] in CONDITIONS:
        at += 1
    if at == len(words):
        return Condition(at)
    return Condition(at, tuple(tuple(map(_test, suite)) for suite in suites(words[at + 1 :])), words[at] == UNLESS)


def _test(term: Sequence[str]) -> Test:
    text = "".join(term[: next((place for place, word in enumerate(term) if word.strip("!")), len(term)) + 1])
    name = text.lstrip("!")
    is_negated = (len(text) - len(name)) % 2 == 1
    if name != "{":
        return Test(name, (), is_negated)
    begin = next(place for place, word in enumerate(term) if word.endswith("{")) + 1
    return Test("", tuple(term[begin:-1] if term[-1] == "}" else term[begin:]), is_negated)


def criterion_of(words: Sequence[str]) -> Criterion:
    """Parses a criterion from the words after an ACL's name, or between braces."""
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
