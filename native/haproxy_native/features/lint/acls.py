"""Checks of ACLs: defined and used. Pure."""

import re
from collections.abc import Iterator
from difflib import get_close_matches

from haproxy_native.features.lint.conditions import condition_of
from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.finding import Found
from haproxy_native.features.lint.view import Scope, Statement, View
from haproxy_native.grammar.conditions import CONDITIONAL, CONDITIONS, PREDEFINED
from haproxy_native.grammar.synopsis import condition_at
from haproxy_native.references.pattern import arguments

_NEARNESS = 0.75
_CONDITIONS = frozenset(CONDITIONS)


def acl_undefined(view: View) -> Iterator[Found]:
    for scope in view.scopes:
        for statement, name in _named(scope):
            if statement.is_certain and name not in scope.acls and name not in PREDEFINED and "$" not in name:
                close = get_close_matches(name, scope.acls, 1, _NEARNESS)
                line = re.sub(rf"(?<![^\s!]){re.escape(name)}(?!\S)", close[0], statement.text.strip()) if close else ""
                yield Found(statement, f"{scope.title} has no ACL {name!r}", line=line)


def acl_unused(view: View) -> Iterator[Found]:
    for scope in view.scopes:
        if scope.acls:
            used = {name for _, name in _named(scope)}
            for name, lines in scope.acls.items():
                if name not in used and lines[0].is_certain and lines[0].is_known and not _is_in_variable(scope):
                    yield Found(lines[0], f"no line of {scope.title} asks for {name!r}")


def _is_in_variable(scope: Scope) -> bool:
    """Whether a condition has names that a variable of the environment gives."""
    return any(not statement.is_known for statement in scope.statements if not _CONDITIONS.isdisjoint(statement.words))


def _named(scope: Scope) -> Iterator[tuple[Statement, str]]:
    """The ACLs that conditions of a section name."""
    for statement in scope.statements:
        if (
            not _CONDITIONS.isdisjoint(statement.words)
            and statement.begins(*CONDITIONAL)
            and condition_at(statement.words, 1) < len(statement.words)
        ):
            yield from ((statement, test.name) for test in condition_of(statement.words, 1).tests if test.name)
        if "acl(" in statement.text:
            for argument in (argument for word in statement.words for argument in arguments(word)):
                if argument.function == words()["acl_call"]:
                    yield statement, argument.text.lstrip("!")


def acl_with_condition(view: View) -> Iterator[Found]:
    table = words()["rules"]
    for scope in view.scopes:
        for name, lines in scope.acls.items():
            for statement in lines:
                sign = _sign(scope, statement.words[2:], table["in_patterns"], table["or"])
                if sign and statement.is_certain:
                    yield Found(statement, f"{sign!r} is one of the values that {name!r} is compared with")


def _sign(scope: Scope, given: tuple[str, ...], signs: list[str], ors: list[str]) -> str:
    """The word that was meant to join tests."""
    for place, word in enumerate(given[1:], 1):
        behind = given[place + 1] if place + 1 < len(given) else ""
        if word in signs or (word.lower() in ors and behind and (behind == given[0] or behind.lstrip("!") in scope.acls)):
            return word
    return ""
