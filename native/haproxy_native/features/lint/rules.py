"""Checks of rules: in which order, behind which, and with which conditions. Pure."""

import re
from collections.abc import Iterator
from itertools import combinations

from haproxy_native.features.lint.conditions import Test
from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.finding import Found
from haproxy_native.features.lint.view import Rule, Scope, View

Key = frozenset[str]
# Of a suite with more terms not all parts are compared.
_MOST_TERMS = 6


def rule_never_reached(view: View) -> Iterator[Found]:
    for scope in view.scopes:
        ended: dict[str, Rule] = {}
        for rule in scope.rules:
            if rule.family in ended and rule.statement.is_certain:
                yield Found(rule.statement, f"{_said(ended[rule.family])} above it applies to everything, and ends {rule.family}")
            elif rule.is_final and rule.statement.is_certain and _always(rule):
                ended[rule.family] = rule


def _said(rule: Rule) -> str:
    return repr(" ".join(rule.statement.words)[:100])


def _always(rule: Rule) -> bool:
    """Whether it applies to every request that comes to it."""
    if not rule.condition.suites:
        return rule.condition.at == len(rule.statement.words)
    return not rule.condition.is_negative and any(suite and all(map(_holds, suite)) for suite in rule.condition.suites)


def _holds(test: Test) -> bool:
    return test.key in words()["always"]


def rule_repeats_condition(view: View) -> Iterator[Found]:
    volatile = re.compile(words()["volatile"])
    for scope in view.scopes:
        seen: dict[str, dict[Key, Rule]] = {}
        for rule in scope.rules:
            known = seen.setdefault(rule.family, {})
            if not rule.is_final:
                # It may change what the conditions are about.
                known.clear()
                continue
            if (
                rule.condition.is_negative
                or not rule.condition.suites
                or not rule.statement.is_certain
                or _is_volatile(scope, rule, volatile)
            ):
                continue
            keys = [frozenset(test.key for test in suite) for suite in rule.condition.suites]
            earlier = [_covering(known, key) for key in keys]
            if first := next((rule_ for rule_ in earlier if rule_ and all(earlier)), None):
                yield Found(rule.statement, f"where its condition holds, that of {_said(first)} above it does, and ends {rule.family}")
            for key in keys:
                known.setdefault(key, rule)


def _is_volatile(scope: Scope, rule: Rule, volatile: re.Pattern[str]) -> bool:
    if not rule.statement.is_known or volatile.search(rule.statement.text):
        return True
    lines = [acl for test in rule.condition.tests if test.name for acl in scope.acls.get(test.name, ())]
    return any(volatile.search(line.text) or not line.is_known or not line.is_certain for line in lines)


def _covering(known: dict[Key, Rule], key: Key) -> Rule | None:
    """An earlier rule with a suite of which all terms are among these."""
    if not known or len(key) > _MOST_TERMS:
        return known.get(key)
    parts = (frozenset(part) for size in range(1, len(key) + 1) for part in combinations(sorted(key), size))
    return next((known[part] for part in parts if part in known), None)


def rule_out_of_order(view: View) -> Iterator[Found]:
    order = words()["order"]
    for scope in view.scopes:
        latest: Rule | None = None
        for rule in (rule for rule in scope.rules if rule.family in order and rule.statement.is_certain):
            if latest and order[rule.family] < order[latest.family]:
                yield Found(rule.statement, f"it is evaluated before all rules {latest.family}, though one stands above it")
            else:
                latest = rule


def condition_without_if(view: View) -> Iterator[Found]:
    for scope in view.scopes:
        for rule in scope.rules:
            statement = rule.statement
            if not statement.is_certain or rule.condition.at < len(statement.words):
                continue
            place = next(
                (place for place, word in enumerate(statement.words) if place > 1 and _looks_like_test(scope, rule, word, place)), 0
            )
            if place:
                word = statement.raw[place]
                line = statement.text.replace(f" {word}", f" if {word}", 1).strip()
                yield Found(statement, f"{statement.words[place]!r} looks like a condition", line=line)


def _looks_like_test(scope: Scope, rule: Rule, word: str, place: int) -> bool:
    table = words()["rules"]
    if word in table["no_word_signs"]:
        return True
    if word.startswith("!") and word.lstrip("!") in scope.acls:
        return True
    return rule.family in table["named_first"] and place == 2 and word in scope.acls


def use_backend_chain(view: View) -> Iterator[Found]:
    table = words()["rules"]
    looked_up, most = re.compile(table["looked_up"]), table["chain"]
    for scope in view.scopes:
        by_sample: dict[tuple[str, str], list[Rule]] = {}
        for rule in (rule for rule in scope.rules if rule.family == table["routing"] and rule.statement.is_certain):
            tests = list(rule.condition.tests)
            criteria = list(scope.criteria(rule, positive=True))
            if len(tests) == len(criteria) == 1 and looked_up.search(criteria[0].sample) and not criteria[0].files:
                # hdr and req.hdr are one, and so are -m str and nothing.
                key = criteria[0].sample.removeprefix("req."), criteria[0].method.replace("str", "")
                by_sample.setdefault(key, []).append(rule)
        for (sample, _), rules in by_sample.items():
            if len(rules) >= most:
                yield Found(rules[0].statement, f"{len(rules)} rules of {scope.title} choose by {sample}, one after the other")


def request_without_backend(view: View) -> Iterator[Found]:
    table = words()["rules"]
    for scope in view.of_kind(*words()["listening"]):
        rules = [rule for rule in scope.rules if rule.family == table["routing"]]
        if not rules or not scope.header.is_certain or scope.all(table["otherwise"], *table["answering"]):
            continue
        if any(_always(rule) or "%[" in rule.statement.text for rule in rules) or any(
            rule.is_final and _always(rule) for rule in scope.rules
        ):
            continue
        yield Found(rules[-1].statement, f"a request to {scope.title} for which no rule holds is answered with status 503")


def redirect_to_itself(view: View) -> Iterator[Found]:
    table = words()["rules"]
    tls = table["tls"]
    for scope in view.of_kind(*words()["listening"]):
        listeners = scope.own(*words()["listeners"])
        if not any(listener.has(tls) and listener.is_certain for listener in listeners):
            continue
        for rule in scope.rules:
            given = rule.statement.words
            at = next((place for place, word in enumerate(given) if list(given[place : place + 2]) == table["to_https"]), 0)
            if at and rule.is_final and rule.statement.is_certain and _always(rule):
                yield Found(rule.statement, f"{scope.title} listens with TLS: its own answer leads to the same rule")
