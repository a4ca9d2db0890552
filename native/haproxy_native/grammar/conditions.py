"""Split the condition of a rule into alternatives, which `||` separates, and their terms (HAProxy Configuration Manual, section 7.2)."""

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from haproxy_native.errors import Incomplete, Place

# HAProxy ignores the case of `or`, but not of any other word of a condition.
OR = ("||", "or")
UNLESS = "unless"
CONDITIONS = ("if", UNLESS)

_WORDS = tomllib.loads((Path(__file__).parent / "conditions.toml").read_text())
# The beginnings of lines with a condition, and the ACLs that HAProxy predefines.
CONDITIONAL: tuple[str, ...] = tuple(_WORDS["conditional"])
PREDEFINED: frozenset[str] = frozenset(_WORDS["predefined"])


def is_or(word: str) -> bool:
    """Return whether a word of a condition separates two alternatives."""
    return word.lower() in OR


def suites(words: Sequence[str]) -> Iterator[list[list[str]]]:
    """Yield the alternatives of a condition, each as a list of terms. `words`: the condition without `if` or `unless`."""
    suite: list[list[str]] = []
    for term in terms(words):
        if is_or(term[0]):
            yield suite
            suite = []
        else:
            suite.append(term)
    yield suite


def terms(words: Sequence[str]) -> Iterator[list[str]]:
    """Yield the terms of a condition, each as a list of words. A separator such as `||` is a term as well.

    A term is a named ACL or an anonymous ACL in braces. If a `!` precedes the ACL, the term includes the `!`.
    """
    term: list[str] = []
    is_open = False
    for word in words:
        term.append(word)
        sign = word.lstrip("!")
        is_open = (is_open or sign == "{") and word != "}"
        if sign and not is_open:
            yield term
            term = []
    if term:
        yield term


def refuse_half(members: Iterable[str], values: Mapping[str, Any]) -> None:
    """Raise Incomplete if a condition has only one of its two members, `cond` (`if` or `unless`) and `cond_test`."""
    for cond, test in ((member, f"{member}_test") for member in members if member.endswith("cond")):
        if test in values and cond not in values:
            words = " or ".join(f"`{word}`" for word in CONDITIONS)
            raise Incomplete(f"{cond} in body is required with {test}: send {words}", place=Place(member=cond))
        if cond in values and test not in values:
            raise Incomplete(f"{test} in body is required with {cond}: send the condition", place=Place(member=test))
