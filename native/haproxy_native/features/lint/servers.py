"""Checks of servers. Pure."""

import re
from collections.abc import Iterator, Mapping
from typing import Any

from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.finding import Found
from haproxy_native.features.lint.view import Scope, Statement, View


def _servers(scope: Scope) -> list[Statement]:
    return [statement for statement in scope.own(*words()["server_lines"]) if len(statement.words) > 2]


def _address(statement: Statement) -> str:
    place = 3 if statement.words[0] == words()["templates"] else 2
    return statement.words[place] if len(statement.words) > place else ""


def _default(scope: Scope) -> list[Statement]:
    return scope.all(words()["server_defaults"])


def server_certificate_unverified(view: View) -> Iterator[Found]:
    table, local = words()["servers"], re.compile(words()["local"])
    for scope in view.of_kind(words()["global"]["section"]):
        for statement in scope.own(table["default_verify"]):
            if statement.is_certain and statement.words[1:2] == (table["none"],):
                yield Found(statement, "servers may show any certificate, unless their lines say otherwise")
    for scope in view.proxies:
        default = _default(scope)
        for statement in _servers(scope):
            if not statement.is_certain or local.search(_address(statement)) or not statement.is_known:
                continue
            if _has_tls(statement, default) and _verifies(statement, default) == table["none"]:
                yield Found(statement, f"{_address(statement)} may show any certificate")


def _has_tls(statement: Statement, default: list[Statement]) -> bool:
    tls = words()["servers"]["tls"]
    return not statement.has(f"no-{tls}") and any(line.has(tls) and line.is_certain for line in (statement, *default))


def _verifies(statement: Statement, default: list[Statement]) -> str:
    """What holds for the server; empty where no line says it."""
    verify = words()["servers"]["verifying"]
    return next((value for line in (statement, *reversed(default)) if (value := line.behind(verify))), "")


def server_without_check(view: View) -> Iterator[Found]:
    table = words()["servers"]
    for scope in view.of_kind(*words()["serving"]):
        servers = [server for server in _servers(scope) if server.is_certain and not server.has(table["disabled"])]
        count = sum(2 if server.words[0] == words()["templates"] else 1 for server in servers)
        if count < 2 or any(statement.has(*table["checks"]) or not statement.is_known for statement in _default(scope)):
            continue
        without = [server for server in servers if not server.has(*table["checks"], table["no_check"]) and server.is_known]
        if without:
            names = ", ".join(server.words[1] for server in without[:3]) + (" and others" if len(without) > 3 else "")
            yield Found(without[0], f"{scope.title} sends requests to {names} even where nobody answers", line=f"{_code(without[0])} check")


def _code(statement: Statement) -> str:
    """Returns a statement without its comment."""
    return " ".join(statement.raw)


def server_twice(view: View) -> Iterator[Found]:
    table = words()["servers"]
    placeholder, port = re.compile(table["placeholders"]), re.compile(table["port"])
    for scope in view.of_kind(*words()["serving"]):
        seen: dict[tuple[str, ...], Statement] = {}
        for statement in (server for server in _servers(scope) if server.words[0] != words()["templates"]):
            if not _is_plain(statement, table) or placeholder.search(statement.words[2]) or not port.search(statement.words[2]):
                continue
            first = seen.setdefault(statement.words[2:], statement)
            if first is not statement:
                yield Found(statement, f"{first.words[1]} has the same address and parameters: it gets twice the share")


def _is_plain(statement: Statement, table: Mapping[str, Any]) -> bool:
    return statement.is_certain and statement.is_known and not statement.has(*table["idle"])
