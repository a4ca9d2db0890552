"""Checks of listeners: addresses, TLS, what they show, and timeouts. Pure."""

import re
from collections.abc import Iterator

from haproxy_native.features.lint.declared import words
from haproxy_native.features.lint.finding import Found
from haproxy_native.features.lint.view import Scope, Statement, View


def _listeners(scope: Scope) -> list[Statement]:
    return [statement for statement in scope.own(*words()["listeners"]) if len(statement.words) > 1]


def address_in_two_places(view: View) -> Iterator[Found]:
    table = words()["servers"]
    seen: dict[str, tuple[Scope, Statement]] = {}
    for scope in view.of_kind(*words()["listening"]):
        for statement in _listeners(scope):
            if not statement.is_certain or not statement.is_known or statement.has(*table["reached_otherwise"]):
                continue
            for address in statement.words[1].split(","):
                if not re.search(table["port"], address) or address.startswith(tuple(table["quic"])):
                    continue
                other, _ = seen.setdefault(address.removeprefix("*"), (scope, statement))
                if other is not scope:
                    yield Found(statement, f"{other.title} listens on {address} as well: each gets some of the connections", (other.place,))


def tls_too_old(view: View) -> Iterator[Found]:
    table = words()["tls"]
    weak = re.compile(table["weak"])
    for scope in view.scopes:
        for statement in scope.own(*table["options"], *table["cipher_lines"]):
            if not statement.is_certain:
                continue
            version = next(
                (word for word in (statement.behind(table["lowest"]), statement.behind(table["highest"])) if word in table["old"]), ""
            )
            forced = next((word for word in statement.words if word in table["forced"]), "")
            if version or forced:
                yield Found(statement, f"{version or forced} can be broken, and clients refuse it")
            elif cipher := next((cipher for cipher in _ciphers(statement) if weak.search(cipher)), ""):
                yield Found(statement, f"{cipher} can be broken")


def _ciphers(statement: Statement) -> list[str]:
    table = words()["tls"]
    text = (
        statement.words[1]
        if statement.begins(*table["cipher_lines"]) and len(statement.words) > 1
        else statement.behind(*table["cipher_words"])
    )
    return [cipher for cipher in re.split(r"[:, ]", text) if cipher and not cipher.startswith(("!", "-"))]


def stats_admin_open(view: View) -> Iterator[Found]:
    table = words()["stats"]
    for scope in [*view.proxies, *view.of_kind("defaults")]:
        if scope.all(*table["auth"]) or _is_guarded(scope):
            continue
        for statement in scope.own(table["admin"]):
            if statement.is_certain and statement.words[3:] in ((words()["always"][0],), ("{", words()["always_true_sample"], "}")):
                yield Found(statement, "everyone who reaches the page may stop servers")


def stats_page_open(view: View) -> Iterator[Found]:
    table = words()["stats"]
    for scope in view.of_kind(*words()["listening"]):
        pages = [statement for statement in scope.own(*table["shown"]) if statement.is_certain]
        public = next(filter(_is_public, _listeners(scope)), None)
        if pages and public and not scope.all(*table["auth"]) and not _is_guarded(scope):
            yield Found(pages[0], f"{public.words[1]} shows names and addresses of all servers to everyone")


def _is_guarded(scope: Scope) -> bool:
    """Whether rules or certificates keep clients out; who they are is not asked."""
    table = words()["stats"]
    return bool(scope.all(*table["guards"])) or any(listener.has(*table["verifies"]) for listener in _listeners(scope))


def _is_public(statement: Statement) -> bool:
    own = [re.compile(words()[name]) for name in ("local", "private")]
    addresses = statement.words[1].split(",")
    return statement.is_certain and statement.is_known and any(not any(pattern.search(address) for pattern in own) for address in addresses)


def stats_socket_open(view: View) -> Iterator[Found]:
    table, local = words()["stats"], re.compile(words()["local"])
    for scope in view.of_kind(words()["global"]["section"]):
        for statement in scope.own(table["socket"]):
            if not statement.is_certain or not statement.is_known or len(statement.words) < 3:
                continue
            address, mode = statement.words[2], statement.behind(table["mode"])
            if re.fullmatch(r"[0-7]*[2367]", mode) and not re.search(table["tcp"], address):
                line = re.sub(rf"(\b{table['mode']}\s+){mode}\b", r"\g<1>660", statement.text.strip())
                yield Found(statement, f"mode {mode}: every user of the machine may give commands", line=line)
            elif re.search(table["tcp"], address) and not local.search(address) and _is_powerful(statement):
                yield Found(statement, f"who reaches {address} may change everything, without a password")


def _is_powerful(statement: Statement) -> bool:
    table = words()["stats"]
    return statement.behind(table["level"]) == table["powerful"] and not statement.has(*table["restricted"])


def timeout_missing(view: View) -> Iterator[Found]:
    table = words()["timeouts"]
    for scope in view.proxies:
        if not scope.header.is_certain or not _is_proxy(scope):
            continue
        wanted = ["client"] if scope.is_listening and _listeners(scope) else []
        wanted += ["connect", "server"] if scope.is_serving and scope.own(*words()["server_lines"]) else []
        missing = [name for name in wanted if not scope.all(*table[name])]
        if missing:
            yield Found(scope.header, f"without {' and '.join(table[name][0] for name in missing)} a connection may stay for ever")


def request_timeout_missing(view: View) -> Iterator[Found]:
    table, local = words()["timeouts"], re.compile(words()["local"])
    for scope in view.of_kind(*words()["listening"]):
        public = [listener for listener in _listeners(scope) if not local.search(listener.words[1])]
        if public and scope.header.is_certain and scope.mode == words()["http"]["mode"] and not scope.all(*table["request"]):
            yield Found(scope.header, f"without {table['request'][0]} a client may send a request so slowly that it takes hours")


def _is_proxy(scope: Scope) -> bool:
    """Not one of logs or SPOE, or whose mode is not known."""
    return scope.mode in (words()["http"]["mode"], words()["http"]["other"])


def http_rule_in_tcp(view: View) -> Iterator[Found]:
    table = words()["http"]
    for scope in view.proxies:
        if scope.mode != table["other"] or scope.all(table["switch"]) or not scope.header.is_certain:
            continue
        for statement in scope.own(*table["rules"]):
            if statement.is_certain:
                yield Found(statement, f"{scope.title} has mode {table['other']}: HAProxy ignores the rule")
                break
