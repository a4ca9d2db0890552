"""Marks in conditions: a term that always holds, and whose evaluation adds an identifier to a variable of the stream.

HAProxy evaluates the terms of a condition from left to right, and stops at the first that decides. So a mark behind a term is left where
that term holds, one at the end where the rule applies, and nothing is evaluated twice.
(HAProxy Configuration Manual, section 7.2 "Using ACLs to form conditions"; section 7.3.1, converter `set-var`)
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from haproxy_native.grammar.conditions import OR, UNLESS, suites
from haproxy_native.grammar.synopsis import condition_at

# The variables that hold the identifiers: of a connection, before there is a stream, and of a stream.
SESSION, STREAM = "sess.__marks", "txn.__marks"
SEPARATOR = "."


@dataclass(frozen=True)
class Mark:
    """Left where a rule applies, or where `term` of its condition holds."""

    term: str = ""


def marked(words: Sequence[str], start: int, variable: str, new: Callable[[Mark], str]) -> list[str]:
    """The words of a rule with marks in its condition; it gets one where it has none. `new` gives a mark its identifier.

    No condition begins before `start`.
    """
    at = condition_at(words, start)
    if at == len(words):
        return [*words, "if", *_term(variable, new(Mark()), holds=True)]
    is_negative = words[at] == UNLESS
    out = list(words[: at + 1])
    for number, suite in enumerate(suites(words[at + 1 :])):
        out += [OR[0]] if number else []
        for term in suite:
            out += [*term, *_term(variable, new(Mark(" ".join(term))), holds=True)]
        if not is_negative:
            out += _term(variable, new(Mark()), holds=True)
    # It is evaluated where no suite has held, which is where `unless` applies.
    return [*out, OR[0], *_term(variable, new(Mark()), holds=False)] if is_negative else out


def _term(variable: str, identifier: str, *, holds: bool) -> list[str]:
    match = ["-m", "found"] if holds else ["-m", "len", "0"]
    return ["{", f"var({variable},),concat({SEPARATOR}{identifier}),set-var({variable})", *match, "}"]
