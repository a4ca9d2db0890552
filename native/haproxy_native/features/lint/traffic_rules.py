"""Check rules: their order, their conditions, and whether they trust paths and headers that a client can forge."""

import re
from collections.abc import Iterator
from itertools import combinations

from haproxy_native.features.lint.finding import Violation
from haproxy_native.features.lint.view import Criterion, Rule, Scope, View, words

Key = frozenset[str]
# A suite is the terms between two `||`. Its subsets are compared with other suites only if it has at most so many terms.
_MOST_TERMS = 6


def rule_never_reached(view: View) -> Iterator[Violation]:
    for scope in view.scopes:
        ended: dict[str, Rule] = {}
        for rule in scope.rules:
            if rule.family in ended and rule.statement.is_certain:
                yield Violation(rule.statement, f"{_quoted(ended[rule.family])} above it applies to everything, and ends {rule.family}")
            elif rule.is_final and rule.statement.is_certain and _always(rule):
                ended[rule.family] = rule


def _quoted(rule: Rule) -> str:
    return repr(" ".join(rule.statement.words)[:100])


def _always(rule: Rule) -> bool:
    """Return whether a rule applies to every request that reaches it."""
    if not rule.condition.suites:
        return rule.condition.at == len(rule.statement.words)
    always_true = words()["always"]
    return not rule.condition.is_negative and any(
        suite and all(test.key in always_true for test in suite) for suite in rule.condition.suites
    )


def rule_repeats_condition(view: View) -> Iterator[Violation]:
    volatile = re.compile(words()["volatile"])
    for scope in view.scopes:
        seen: dict[str, dict[Key, Rule]] = {}
        for rule in scope.rules:
            known = seen.setdefault(rule.family, {})
            if not rule.is_final:
                # The rule may change what later conditions test.
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
            earlier = [_find_covering_rule(known, key) for key in keys]
            if first := next((rule_ for rule_ in earlier if rule_ and all(earlier)), None):
                yield Violation(
                    rule.statement, f"where its condition holds, that of {_quoted(first)} above it does, and ends {rule.family}"
                )
            for key in keys:
                known.setdefault(key, rule)


def _is_volatile(scope: Scope, rule: Rule, volatile: re.Pattern[str]) -> bool:
    """Return whether the condition of a rule may have another result when it is evaluated again, or depends on unknown values."""
    if not rule.statement.is_known or volatile.search(rule.statement.text):
        return True
    lines = [acl for test in rule.condition.tests if test.name for acl in scope.acls.get(test.name, ())]
    return any(volatile.search(line.text) or not line.is_known or not line.is_certain for line in lines)


def _find_covering_rule(known: dict[Key, Rule], key: Key) -> Rule | None:
    """Return an earlier rule that applies whenever all terms in `key` are true; None if there is no such rule.

    `known` maps each suite of the earlier rules, as a set of terms, to its rule.
    """
    if not known or len(key) > _MOST_TERMS:
        return known.get(key)
    parts = (frozenset(part) for size in range(1, len(key) + 1) for part in combinations(sorted(key), size))
    return next((known[part] for part in parts if part in known), None)


def rule_out_of_order(view: View) -> Iterator[Violation]:
    order = words()["order"]
    for scope in view.scopes:
        latest: Rule | None = None
        for rule in (rule for rule in scope.rules if rule.family in order and rule.statement.is_certain):
            if latest and order[rule.family] < order[latest.family]:
                yield Violation(rule.statement, f"it is evaluated before all rules {latest.family}, though one stands above it")
            else:
                latest = rule


def condition_without_if(view: View) -> Iterator[Violation]:
    table = words()["rules"]
    for scope in view.scopes:
        for rule in scope.rules:
            statement = rule.statement
            if not statement.is_certain or rule.condition.at < len(statement.words):
                continue
            for index, word in enumerate(statement.words[2:], 2):
                is_negated_acl = word.startswith("!") and word.lstrip("!") in scope.acls
                is_acl = rule.family in table["named_first"] and index == 2 and word in scope.acls
                if word in table["no_word_signs"] or is_negated_acl or is_acl:
                    raw = statement.raw[index]
                    line = statement.text.replace(f" {raw}", f" if {raw}", 1).strip()
                    yield Violation(statement, f"{word!r} looks like a condition", line=line)
                    break


def use_backend_chain(view: View) -> Iterator[Violation]:
    table = words()["rules"]
    looked_up, most = re.compile(table["looked_up"]), table["chain"]
    for scope in view.scopes:
        by_sample: dict[tuple[str, str], list[Rule]] = {}
        for rule in (rule for rule in scope.rules if rule.family == table["routing"] and rule.statement.is_certain):
            tests = list(rule.condition.tests)
            criteria = list(scope.criteria(rule, positive=True))
            if len(tests) == len(criteria) == 1 and looked_up.search(criteria[0].sample) and not criteria[0].files:
                # hdr and req.hdr are the same; -m str is the default.
                key = criteria[0].sample.removeprefix("req."), criteria[0].method.replace("str", "")
                by_sample.setdefault(key, []).append(rule)
        for (sample, _), rules in by_sample.items():
            if len(rules) >= most:
                yield Violation(rules[0].statement, f"{len(rules)} rules of {scope.title} choose by {sample}, one after the other")


def request_without_backend(view: View) -> Iterator[Violation]:
    table = words()["rules"]
    for scope in view.of_kind(*words()["listening"]):
        rules = [rule for rule in scope.rules if rule.family == table["routing"]]
        if not rules or not scope.header.is_certain or scope.all(table["otherwise"], *table["answering"]):
            continue
        if any(_always(rule) or "%[" in rule.statement.text for rule in rules) or any(
            rule.is_final and _always(rule) for rule in scope.rules
        ):
            continue
        yield Violation(rules[-1].statement, f"a request to {scope.title} for which no rule holds is answered with status 503")


def redirect_to_itself(view: View) -> Iterator[Violation]:
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
                yield Violation(rule.statement, f"{scope.title} listens with TLS: its own answer leads to the same rule")


def path_passes_by(view: View) -> Iterator[Violation]:
    table, rules = words()["paths"], words()["rules"]
    is_normal = any(scope.own(table["normalizes"]) for scope in view.scopes)
    for scope in view.proxies:
        if is_normal or scope.all(*table["mends"]):
            continue
        refusing = [rule for rule in scope.rules if rule.family == rules["request"] and rule.action in rules["refusing"]]
        criteria = [(rule, criterion) for rule in refusing for criterion in scope.criteria(rule, positive=True)]
        if any(sign in pattern for _, criterion in criteria for pattern in criterion.patterns for sign in ("//", "%", "..")):
            continue
        for rule, criterion in criteria:
            pattern = _evadable_pattern(criterion)
            if pattern and rule.statement.is_certain:
                yield Violation(rule.statement, f"{_other_spellings(pattern, criterion)} is no {pattern}, and servers may take it for that")


def _evadable_pattern(criterion: Criterion) -> str:
    """Return the first pattern for a path that a client can evade by another spelling; empty if there is none."""
    table = words()["paths"]
    if not re.search(table["sample"], criterion.sample) or criterion.method not in table["methods"]:
        return ""
    if not re.search(table["whole"], criterion.sample):
        return ""
    begin = "" if table["parts"] in (criterion.method, criterion.sample.partition("_")[2]) else "/"
    return next((each for each in criterion.patterns if each.startswith(begin) and each.strip("/") and "$" not in each), "")


def _other_spellings(pattern: str, criterion: Criterion) -> str:
    """Return a text with other spellings of a path that the criterion does not match."""
    rest = pattern.removeprefix("/")
    slash = pattern[: len(pattern) - len(rest)]
    spellings = [f"/{pattern}"] if slash else []
    spellings.append(f"{slash}%{ord(rest[0]):02x}{rest[1:]}")
    ignores = "-i" in criterion.flags or re.search(words()["paths"]["ignoring_case"], criterion.sample)
    if not ignores and rest.upper() != rest:
        spellings.append(f"{slash}{rest.upper()}")
    return " or ".join(each for each in (", ".join(spellings[:-1]), spellings[-1]) if each)


def forwarded_address_trusted(view: View) -> Iterator[Violation]:
    table = words()["forwarded"]
    sample, source = re.compile(table["sample"]), re.compile(table["source"])
    for scope in view.of_kind(*words()["listening"]):
        replaced = {header for statement in scope.all(*table["replacing"]) for header in statement.words[2:3]}
        if any(re.search(table["header"], header, re.IGNORECASE) for header in replaced):
            continue
        for rule in scope.rules:
            criteria = list(scope.criteria(rule))
            if any(source.search(criterion.sample) for criterion in criteria) or not rule.statement.is_certain:
                continue
            sets_source = rule.action in table["sets_source"] and any(sample.search(word) for word in rule.statement.words[2:])
            # With the method `found`, a rule depends only on whether the header exists.
            tests_value = any(sample.search(criterion.sample) and criterion.method != "found" for criterion in criteria)
            if sets_source or (rule.is_final and tests_value and rule.family != words()["rules"]["routing"]):
                yield Violation(rule.statement, "the client may have sent the header itself, with any address")


def forwarded_header_kept(view: View) -> Iterator[Violation]:
    table = words()["forwarded"]
    lines = [statement for scope in view.scopes for statement in scope.own(*table["replacing"])]
    replaced = {line.words[2].lower() for line in lines if len(line.words) > 2}
    for scope in view.scopes:
        for statement in scope.own(table["appends"]):
            header = statement.after(table["named"]) or table["usual"]
            if statement.is_certain and statement.is_known and header.lower() not in replaced and not statement.has(table["except"]):
                yield Violation(statement, f"{header} that a client sends goes to the servers, before what this line adds")


def retry_repeats_request(view: View) -> Iterator[Violation]:
    table = words()["repeats"]
    if any(scope.own(table["stops"]) for scope in view.scopes):
        return
    for statement in (statement for scope in view.scopes for statement in scope.own(table["on"])):
        risky = [word for word in statement.words[1:] if word in table["unsafe"]]
        if risky and statement.is_certain and view.by_place[statement.place].mode == words()["http"]["mode"]:
            yield Violation(statement, f"after {risky[0]} a POST may be done twice")
