"""Checks of what clients send and rules believe: paths and addresses. Pure."""

import re
from collections.abc import Iterator

from haproxy_native.features.lint.conditions import Criterion
from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.finding import Found
from haproxy_native.features.lint.view import Rule, Scope, Statement, View


def path_passes_by(view: View) -> Iterator[Found]:
    table = words()["paths"]
    is_normal = any(scope.own(table["normalizes"]) for scope in view.scopes)
    for scope in view.proxies:
        if is_normal or scope.all(*table["mends"]):
            continue
        refusing = [rule for rule in scope.rules if _refuses(rule)]
        criteria = [(rule, criterion) for rule in refusing for criterion in scope.criteria(rule, positive=True)]
        if any(sign in pattern for _, criterion in criteria for pattern in criterion.patterns for sign in ("//", "%", "..")):
            continue
        for rule, criterion in criteria:
            pattern = _passable(criterion)
            if pattern and rule.statement.is_certain:
                yield Found(rule.statement, f"{_other(pattern, criterion)} is no {pattern}, and servers may take it for that")


def _refuses(rule: Rule) -> bool:
    table = words()["rules"]
    return rule.family == table["request"] and rule.action in table["refusing"]


def _passable(criterion: Criterion) -> str:
    table = words()["paths"]
    if not re.search(table["sample"], criterion.sample) or criterion.method not in table["methods"]:
        return ""
    if not re.search(table["whole"], criterion.sample):
        return ""
    begin = "" if table["parts"] in (criterion.method, criterion.sample.partition("_")[2]) else "/"
    return next((each for each in criterion.patterns if each.startswith(begin) and each.strip("/") and "$" not in each), "")


def _other(pattern: str, criterion: Criterion) -> str:
    """Other spellings of a path."""
    rest = pattern.removeprefix("/")
    slash = pattern[: len(pattern) - len(rest)]
    spellings = [f"/{pattern}"] if slash else []
    spellings.append(f"{slash}%{ord(rest[0]):02x}{rest[1:]}")
    ignores = "-i" in criterion.flags or re.search(words()["paths"]["ignoring_case"], criterion.sample)
    if not ignores and rest.upper() != rest:
        spellings.append(f"{slash}{rest.upper()}")
    return " or ".join(each for each in (", ".join(spellings[:-1]), spellings[-1]) if each)


def forwarded_address_trusted(view: View) -> Iterator[Found]:
    table = words()["forwarded"]
    sample, source = re.compile(table["sample"]), re.compile(table["source"])
    for scope in view.of_kind(*words()["listening"]):
        replaced = {header for statement in scope.all(*table["replacing"]) for header in statement.words[2:3]}
        if any(re.search(table["header"], header, re.IGNORECASE) for header in replaced):
            continue
        for rule in scope.rules:
            asked = list(scope.criteria(rule))
            if any(source.search(criterion.sample) for criterion in asked) or not rule.statement.is_certain:
                continue
            sets = rule.action in table["sets_source"] and any(sample.search(word) for word in rule.statement.words[2:])
            if sets or (rule.is_final and _is_asked(rule, asked, sample)):
                yield Found(rule.statement, "the client may have sent the header itself, with any address")


def _is_asked(rule: Rule, asked: list[Criterion], sample: re.Pattern[str]) -> bool:
    """Whether the header is compared with something: that it is there is no address."""
    return rule.family != words()["rules"]["routing"] and any(
        sample.search(criterion.sample) and criterion.method != "found" for criterion in asked
    )


def forwarded_header_kept(view: View) -> Iterator[Found]:
    table = words()["forwarded"]
    lines = [statement for scope in view.scopes for statement in scope.own(*table["replacing"])]
    replaced = {line.words[2].lower() for line in lines if len(line.words) > 2}
    for scope in view.scopes:
        for statement in scope.own(table["appends"]):
            header = statement.behind(table["named"]) or table["usual"]
            if statement.is_certain and statement.is_known and header.lower() not in replaced and not statement.has(table["except"]):
                yield Found(statement, f"{header} that a client sends goes to the servers, before what this line adds")


def retry_repeats_request(view: View) -> Iterator[Found]:
    table = words()["repeats"]
    if any(scope.own(table["stops"]) for scope in view.scopes):
        return
    for statement in (statement for scope in view.scopes for statement in scope.own(table["on"])):
        risky = [word for word in statement.words[1:] if word in table["unsafe"]]
        if risky and statement.is_certain and _is_of_http(view, statement):
            yield Found(statement, f"after {risky[0]} a POST may be done twice")


def _is_of_http(view: View, statement: Statement) -> bool:
    scope: Scope = view.by_place[statement.place]
    return scope.mode == str(words()["http"]["mode"])
