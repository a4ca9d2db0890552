"""Check single lines: listeners, TLS, statistics, timeouts, servers, the process and its users."""

import re
from collections.abc import Iterator

from haproxy_native.editing.editor import standard_editor
from haproxy_native.features.lint.finding import Violation
from haproxy_native.features.lint.view import Scope, Statement, View, words


def _listeners(scope: Scope) -> list[Statement]:
    """Return the lines of a section that make HAProxy listen."""
    return [statement for statement in scope.own(*words()["listeners"]) if len(statement.words) > 1]


def address_in_two_places(view: View) -> Iterator[Violation]:
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
                    yield Violation(
                        statement, f"{other.title} listens on {address} as well: each gets some of the connections", (other.place,)
                    )


def tls_too_old(view: View) -> Iterator[Violation]:
    table = words()["tls"]
    weak = re.compile(table["weak"])
    for scope in view.scopes:
        for statement in scope.own(*table["options"], *table["cipher_lines"]):
            if not statement.is_certain:
                continue
            version = next(
                (word for word in (statement.after(table["lowest"]), statement.after(table["highest"])) if word in table["old"]), ""
            )
            forced = next((word for word in statement.words if word in table["forced"]), "")
            if version or forced:
                yield Violation(statement, f"{version or forced} can be broken, and clients refuse it")
                continue
            is_cipher_line = statement.begins(*table["cipher_lines"]) and len(statement.words) > 1
            text = statement.words[1] if is_cipher_line else statement.after(*table["cipher_words"])
            permitted = [cipher for cipher in re.split(r"[:, ]", text) if cipher and not cipher.startswith(("!", "-"))]
            if cipher := next((cipher for cipher in permitted if weak.search(cipher)), ""):
                yield Violation(statement, f"{cipher} can be broken")


def stats_admin_open(view: View) -> Iterator[Violation]:
    table = words()["stats"]
    for scope in [*view.proxies, *view.of_kind("defaults")]:
        if scope.all(*table["auth"]) or _is_guarded(scope):
            continue
        for statement in scope.own(table["admin"]):
            if statement.is_certain and statement.words[3:] in ((words()["always"][0],), ("{", words()["always_true_sample"], "}")):
                yield Violation(statement, "everyone who reaches the page may stop servers")


def stats_page_open(view: View) -> Iterator[Violation]:
    table = words()["stats"]
    for scope in view.of_kind(*words()["listening"]):
        pages = [statement for statement in scope.own(*table["shown"]) if statement.is_certain]
        public = next(filter(_is_public, _listeners(scope)), None)
        if pages and public and not scope.all(*table["auth"]) and not _is_guarded(scope):
            yield Violation(pages[0], f"{public.words[1]} shows names and addresses of all servers to everyone")


def _is_guarded(scope: Scope) -> bool:
    """Return whether rules or client certificates restrict access to a section."""
    table = words()["stats"]
    return bool(scope.all(*table["guards"])) or any(listener.has(*table["verifies"]) for listener in _listeners(scope))


def _is_public(statement: Statement) -> bool:
    """Return whether a listener has an address that is neither local nor private."""
    own = [re.compile(words()[name]) for name in ("local", "private")]
    addresses = statement.words[1].split(",")
    return statement.is_certain and statement.is_known and any(not any(pattern.search(address) for pattern in own) for address in addresses)


def stats_socket_open(view: View) -> Iterator[Violation]:
    table, local = words()["stats"], re.compile(words()["local"])
    for scope in view.of_kind(words()["global"]["section"]):
        for statement in scope.own(table["socket"]):
            if not statement.is_certain or not statement.is_known or len(statement.words) < 3:
                continue
            address, mode = statement.words[2], statement.after(table["mode"])
            if re.fullmatch(r"[0-7]*[2367]", mode) and not re.search(table["tcp"], address):
                line = re.sub(rf"(\b{table['mode']}\s+){mode}\b", r"\g<1>660", statement.text.strip())
                yield Violation(statement, f"mode {mode}: every user of the machine may give commands", line=line)
            elif re.search(table["tcp"], address) and not local.search(address):
                permits_all_commands = statement.after(table["level"]) == table["powerful"] and not statement.has(*table["restricted"])
                if permits_all_commands:
                    yield Violation(statement, f"who reaches {address} may change everything, without a password")


def timeout_missing(view: View) -> Iterator[Violation]:
    table = words()["timeouts"]
    for scope in view.proxies:
        if not scope.header.is_certain or scope.mode not in (words()["http"]["mode"], words()["http"]["other"]):
            continue
        required = ["client"] if scope.is_listening and _listeners(scope) else []
        required += ["connect", "server"] if scope.is_serving and scope.own(*words()["server_lines"]) else []
        missing = [name for name in required if not scope.all(*table[name])]
        if missing:
            yield Violation(scope.header, f"without {' and '.join(table[name][0] for name in missing)} a connection may stay for ever")


def request_timeout_missing(view: View) -> Iterator[Violation]:
    table, local = words()["timeouts"], re.compile(words()["local"])
    for scope in view.of_kind(*words()["listening"]):
        public = [listener for listener in _listeners(scope) if not local.search(listener.words[1])]
        if public and scope.header.is_certain and scope.mode == words()["http"]["mode"] and not scope.all(*table["request"]):
            yield Violation(scope.header, f"without {table['request'][0]} a client may send a request so slowly that it takes hours")


def http_rule_in_tcp(view: View) -> Iterator[Violation]:
    table = words()["http"]
    for scope in view.proxies:
        if scope.mode != table["other"] or scope.all(table["switch"]) or not scope.header.is_certain:
            continue
        for statement in scope.own(*table["rules"]):
            if statement.is_certain:
                yield Violation(statement, f"{scope.title} has mode {table['other']}: HAProxy ignores the rule")
                break


def _servers(scope: Scope) -> list[Statement]:
    return [statement for statement in scope.own(*words()["server_lines"]) if len(statement.words) > 2]


def _address(statement: Statement) -> str:
    """Return the address of a server or template; empty if the line has none."""
    place = 3 if statement.words[0] == words()["templates"] else 2
    return statement.words[place] if len(statement.words) > place else ""


def _default(scope: Scope) -> list[Statement]:
    """Return the lines with defaults for the servers of a section."""
    return scope.all(words()["server_defaults"])


def server_certificate_unverified(view: View) -> Iterator[Violation]:
    table, local = words()["servers"], re.compile(words()["local"])
    for scope in view.of_kind(words()["global"]["section"]):
        for statement in scope.own(table["default_verify"]):
            if statement.is_certain and statement.words[1:2] == (table["none"],):
                yield Violation(statement, "servers may show any certificate, unless their lines say otherwise")
    for scope in view.proxies:
        default, tls = _default(scope), table["tls"]
        for statement in _servers(scope):
            if not statement.is_certain or local.search(_address(statement)) or not statement.is_known:
                continue
            has_tls = not statement.has(f"no-{tls}") and any(line.has(tls) and line.is_certain for line in (statement, *default))
            verify = next((value for line in (statement, *reversed(default)) if (value := line.after(table["verifying"]))), "")
            if has_tls and verify == table["none"]:
                yield Violation(statement, f"{_address(statement)} may show any certificate")


def server_without_check(view: View) -> Iterator[Violation]:
    table = words()["servers"]
    for scope in view.of_kind(*words()["serving"]):
        servers = [server for server in _servers(scope) if server.is_certain and not server.has(table["disabled"])]
        count = sum(2 if server.words[0] == words()["templates"] else 1 for server in servers)
        if count < 2 or any(statement.has(*table["checks"]) or not statement.is_known for statement in _default(scope)):
            continue
        without = [server for server in servers if not server.has(*table["checks"], table["no_check"]) and server.is_known]
        if without:
            names = ", ".join(server.words[1] for server in without[:3]) + (" and others" if len(without) > 3 else "")
            # `raw` has the words of the line without its comment.
            line = f"{' '.join(without[0].raw)} check"
            yield Violation(without[0], f"{scope.title} sends requests to {names} even if nobody answers", line=line)


def server_twice(view: View) -> Iterator[Violation]:
    table = words()["servers"]
    placeholder, port = re.compile(table["placeholders"]), re.compile(table["port"])
    for scope in view.of_kind(*words()["serving"]):
        seen: dict[tuple[str, ...], Statement] = {}
        for statement in (server for server in _servers(scope) if server.words[0] != words()["templates"]):
            gets_requests = statement.is_certain and statement.is_known and not statement.has(*table["idle"])
            if not gets_requests or placeholder.search(statement.words[2]) or not port.search(statement.words[2]):
                continue
            first = seen.setdefault(statement.words[2:], statement)
            if first is not statement:
                yield Violation(statement, f"{first.words[1]} has the same address and parameters: it gets twice the share")


def process_is_root(view: View) -> Iterator[Violation]:
    for scope in view.of_kind(words()["global"]["section"]):
        for word, values in words()["global"]["root"].items():
            for statement in scope.own(word):
                if statement.is_certain and statement.words[1:2] and statement.words[1] in values:
                    yield Violation(statement, "whoever takes over the process controls the machine")


def process_may_fork(view: View) -> Iterator[Violation]:
    for scope in view.of_kind(words()["global"]["section"]):
        for statement in scope.own(*words()["global"]["forks"]):
            if statement.is_certain:
                yield Violation(statement, "whoever takes over the process can start programs")


def password_in_clear(view: View) -> Iterator[Violation]:
    table = words()["global"]
    for scope in view.of_kind(table["userlist"]):
        for statement in scope.own(table["user"]):
            if statement.is_certain and statement.is_known and statement.has(table["plain"]):
                yield Violation(statement, f"the password of {statement.words[1]} stands in the file, its copies and its history")


def local_peer_missing(view: View) -> Iterator[Violation]:
    table = words()["global"]
    named = [statement for scope in view.of_kind(table["section"]) for statement in scope.own(table["local_peer"])]
    if len(named) != 1 or not named[0].is_certain or not named[0].is_known or len(named[0].words) < 2:
        return
    for scope in view.of_kind(table["peers"]):
        peers = scope.own(*table["peer"])
        is_known = all(peer.is_certain and peer.is_known for peer in peers)
        if peers and is_known and not any(peer.words[1:2] == named[0].words[1:2] for peer in peers):
            yield Violation(scope.header, f"none of its peers is {named[0].words[1]}: HAProxy does not use the section")


def word_deprecated(view: View) -> Iterator[Violation]:
    lines = words()["deprecated"]["lines"]
    of = {old.split()[0]: [row for row in lines if row[0].split()[0] == old.split()[0]] for old, _, _ in lines}
    known = [word for word in of if word in view.first_words]
    for scope in view.scopes if known else ():
        for statement in (statement for word in known for statement in scope.by_word.get(word, ())):
            row = next((row for row in of[statement.words[0]] if statement.begins(row[0])), None)
            if row and statement.is_certain and not (scope.kind == words()["global"]["section"] and row[1].startswith(row[0])):
                yield Violation(statement, f"{row[0]} is no word of HAProxy from version {row[2]} on; {row[1]} replaces it")


def value_not_shown(view: View) -> Iterator[Violation]:
    editor = standard_editor()
    for scope in view.scopes:
        resource = editor.resources.by_section.get(scope.kind)
        named = {statement.number: statement for statement in scope.statements if statement.is_certain and not statement.is_known}
        if resource is None or not named:
            continue
        for number, text in editor.unreadable(view.document.sections[scope.place], resource):
            if number in named and "$" in text:
                yield Violation(named[number], "the API does not show a value of this line, because it is a variable")
