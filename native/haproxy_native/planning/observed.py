"""Compare the servers of the current worker with the servers that a document declares.

The comparison skips values that HAProxy changes on its own: weight, state and limit of a server with an agent, and values that resolvers
set. It also skips values that the file alone does not determine, such as the address of a host name. Servers in conditional blocks are
compared with their state at the start of the worker.

A change *claims* a server if it sets the server as a whole. The plan of such a change also corrects values that somebody else has set in
the process, until the worker has the server as the document declares it. *Kept* members are exempt: operators override them at runtime.
"""

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from haproxy_native.abandonment import check
from haproxy_native.editing.resources import Resource, resources
from haproxy_native.errors import BadValue
from haproxy_native.planning.live import ADDRESS, BRACKETED, LIMIT, NOTHING, Live, NotExpressible, ip_of, live_of, plain
from haproxy_native.planning.section_order import is_conditional, key_of
from haproxy_native.planning.servers import EffectiveServer, Servers, ancestors, fixed
from haproxy_native.runtime.server_state import CONFIGURED_MAINT, ServerState
from haproxy_native.runtime.verification import is_same
from haproxy_native.text.document import Document
from haproxy_native.text.section import Section
from haproxy_native.text.words import unquoted

SERVED, SERVERS, TEMPLATES = ("backend", "listen"), "servers", "server_templates"
PORT, WEIGHT = "port", "weight"
HEALTH, AGENT, STATE = "health", "agent", "state"
# The member under which a difference reports whether a server is up.
OPERATIONAL, UP = "operational_state", "up"
COUNT, HOST = "num_or_range", "fqdn"
# Rows and limits, by backend and server.
Rows = Mapping[str, Mapping[str, ServerState]]
Limits = Mapping[tuple[str, str], int]


class Claim(NamedTuple):
    """A claimed server, or all servers of a claimed template."""

    backend: str
    # The name, or the prefix of a template.
    server: str
    is_template: bool = False

    def may_create(self, backend: str, server: str) -> bool:
        """Return whether HAProxy may have created a server from the claimed template. Return False if no template is claimed."""
        return self.is_template and backend == self.backend and server[len(self.server) :].isdecimal() and server.startswith(self.server)


Claimed = frozenset[Claim]


def claimed_by(resource: Resource, parent: tuple[Resource, str] | None, key: str) -> Claimed:
    """Return the claim of a change that sets a whole object; empty if the object is neither a server nor a template."""
    if resource.name not in (SERVERS, TEMPLATES) or parent is None or parent[0].section not in SERVED:
        return frozenset()
    return frozenset({Claim(parent[1], key, resource.name == TEMPLATES)})


@dataclass(frozen=True)
class Observed:
    """The state of the servers in the current worker. It contains only the backends that the plan needs."""

    # The servers of some backends.
    rows: Rows
    # Connection limits of claimed servers.
    limits: Limits = field(default_factory=dict)
    claimed: Claimed = frozenset()
    # Members, by backend and server, whose values in the process must not change.
    kept: Mapping[tuple[str, str], Collection[str]] = field(default_factory=dict)

    def is_corrected(self, difference: "ServerDifference") -> bool:
        """Return whether the plan corrects a difference. It does if a change claims the server, unless the member is in `kept`."""
        backend, server = difference.backend, difference.server
        is_claimed = Claim(backend, server) in self.claimed or any(
            each.may_create(backend, server) for each in self.claimed if each.is_template
        )
        return is_claimed and difference.member not in self.kept_members(backend, server)

    def kept_members(self, backend: str, server: str) -> set[str]:
        """Return the kept members of a server. Address and port are kept together, because HAProxy sets both by one command."""
        kept = set(self.kept.get((backend, server), ()))
        return kept | {ADDRESS, PORT} if kept & {ADDRESS, PORT} else kept

    def differences(self, live: Live, backend: str, server: EffectiveServer) -> dict[str, Any]:
        """Return the members of a server that differ in the worker, with their values in the worker, apart from kept members."""
        if (row := self.rows[backend].get(server.name)) is None:
            return {}
        found, kept = differing_members(live, server, row, self.limits.get((backend, server.name))), self.kept_members(backend, server.name)
        return {member: value for member, value in found.items() if member not in kept}


@dataclass(frozen=True)
class ServerDifference:
    """One member of a server that differs between the document and the worker, or a server that only one of them has."""

    backend: str
    server: str
    # Empty if only one side has the server: `declared` is None if the document lacks it, `value` is None if the worker lacks it.
    member: str
    declared: Any
    value: Any


def differing_members(live: Live, server: EffectiveServer, row: ServerState, limit: int | None) -> dict[str, Any]:
    """Return the members of a server that differ in the worker, with their values in the worker.

    `limit`: the `maxconn` of the server in the worker; None if it was not read.
    """
    if has_unreadable_value(live, server):
        return {}
    values = {**live.initially, **server.values}
    address, is_resolved = str(values.get(ADDRESS, "")), row.srvrecord != NOTHING
    # An IP address, or a word that the worker reports unchanged, needs no resolution.
    is_literal = (address == row.address and address != NOTHING) or ("$" not in address and ip_of(unquoted(address)) is not None)
    found: dict[str, Any] = {}
    for member, column, declared in live.compared:
        if (member not in values and member not in live.unset) or not _is_comparable(live, member, values, is_literal=is_literal):
            continue
        if member == WEIGHT and is_resolved:
            continue
        value = values.get(member, live.unset.get(member))
        if column == LIMIT:
            if limit is not None and limit != value and not live.obstacle(member, values, values):
                found[member] = limit
            continue
        shown = getattr(row, column)
        if isinstance(declared, Mapping):
            if declared.get(value) != shown:
                found[member] = next((name for name, expected in declared.items() if expected == shown), shown)
        elif value != shown and not _may_be_reported_as(live, member, value, shown):
            found[member] = shown
    # Whether the file configures checks, or anything else that determines whether the server is up.
    is_checked = any(values.get(live.roles[role]) == "enabled" for role in (HEALTH, AGENT)) or not live.health.isdisjoint(values)
    if row.set_health not in (None, UP) and not is_checked:
        found[OPERATIONAL] = row.set_health
    if live.is_resolved(values) and (name := _host_name(values)) and row.fqdn != NOTHING and row.fqdn.casefold() != name:
        found[ADDRESS] = row.fqdn
    return found


def has_unreadable_value(live: Live, server: EffectiveServer) -> bool:
    """Return whether the line of a server may set a compared member to a value that the grammar cannot parse, such as `weight 50%`."""
    return bool(server.opaque) and not live.words.isdisjoint(server.opaque)


def _is_comparable(live: Live, member: str, values: Mapping[str, Any], *, is_literal: bool) -> bool:
    """Return whether the file alone determines the value of a member. `is_literal`: the server's address needs no resolution."""
    if member in live.by_agent:
        return values.get(live.roles[AGENT]) != "enabled"
    if member in (ADDRESS, PORT):
        return is_literal or (member == PORT and bool(_host_name(values)))
    if (other := live.only_with.get(member)) is None:
        return True
    # Depending on the order of words, an agent inherits address and port from checks.
    inherits = other == live.roles[AGENT] and any(live.only_with.get(name) == live.roles[HEALTH] for name in values)
    return values.get(other) == "enabled" and not inherits


def _may_be_reported_as(live: Live, member: str, value: Any, shown: object) -> bool:
    """Return whether the worker may report a value of the file as `shown`. True if the file alone does not determine the value."""
    if not isinstance(value, str) or value == NOTHING:
        return False
    try:
        text = plain(value)
    except NotExpressible:
        return True
    if live.kinds.get(member) == BRACKETED and ":" in text.strip("[]") and not text.startswith("["):
        return True
    return (address := ip_of(text)) is None or is_same(address, shown)


def _host_name(values: Mapping[str, Any]) -> str:
    """Return the host name of a server in lower case; empty if it has none or is an SRV record, which refers to other names."""
    host = str(values.get(ADDRESS, ""))
    is_name = not host.startswith("_") and not any(sign in host for sign in "$@/:\"'")
    return host.casefold() if is_name and ip_of(host) is None else ""


def server_names(server: EffectiveServer) -> list[str]:
    """Return the name of a server, or the names of all servers that a template makes.

    Raises ValueError and NotExpressible if only HAProxy can determine the names.
    """
    if COUNT not in server.values:
        return [plain(server.name)]
    low, _, high = plain(server.values[COUNT]).rpartition("-")
    return [f"{plain(server.name)}{number}" for number in range(int(low or 1), int(high) + 1)]


def servers_of_line(server: EffectiveServer) -> list[EffectiveServer]:
    """Return a server, or all servers that a template makes, with the address that the template gives them.

    Raises ValueError and NotExpressible if only HAProxy can determine the names.
    """
    if COUNT not in server.values:
        return [replace(server, name=name) for name in server_names(server)]
    values = {**server.values, ADDRESS: server.values.get(HOST, NOTHING)}
    return [replace(server, name=name, values=values) for name in server_names(server)]


def is_known_equal(section: Section, above: Sequence[Section], backend: str, rows: Mapping[str, ServerState], limits: Limits) -> bool:
    """Return whether the last comparison found no difference, and the worker still has the same state, so that no comparison is needed."""
    return bool(section.cache.get(is_known_equal) == (tuple(above), _compared_values(backend, rows, limits)))


def record_equal(section: Section, above: Sequence[Section], backend: str, rows: Mapping[str, ServerState], limits: Limits) -> None:
    """Record in the cache of a section that a comparison found no difference. `is_known_equal` then returns True."""
    section.cache[is_known_equal] = tuple(above), _compared_values(backend, rows, limits)


def _compared_values(backend: str, rows: Mapping[str, ServerState], limits: Limits) -> dict[str, tuple[object, ...]]:
    return {name: (*row.compared, limits.get((backend, name))) for name, row in rows.items()}


def server_differences(
    document: Document, servers: Servers, rows: Rows, limits: Limits, only: Claimed | None = None
) -> Iterator[ServerDifference]:
    """Yield the differences between the servers of the worker and those of a document, in the order of the document.

    `only`: the servers to compare; None for all. Other servers of their backends may be compared as well. Backends that the document lacks
    are ignored.
    """
    live = live_of(servers.grammar.schemas, resources()[SERVERS].schema)
    repeated = document.repeated()
    sections: Iterable[Section] = document.sections
    if only is not None:
        backends = {claim.backend for claim in only}
        sections = [section for backend in backends for kind in SERVED if (section := document.find(kind, backend))]
    for section in sections:
        if section.kind in SERVED and key_of(section) not in repeated:
            check()
            backend = unquoted(section.name)
            claims = [claim for claim in only or () if claim.backend == backend]
            # If a template is claimed, all servers of the backend are compared.
            names = frozenset() if any(claim.is_template for claim in claims) else frozenset(claim.server for claim in claims)
            yield from _section_differences(document, section, servers, live, rows.get(backend, {}), limits, names)


def _section_differences(
    document: Document,
    section: Section,
    servers: Servers,
    live: Live,
    rows: Mapping[str, ServerState],
    limits: Limits,
    only: frozenset[str],
) -> Iterator[ServerDifference]:
    """Yield the differences of the servers of one section. `only`: the names of the servers to compare; empty for all."""
    above, backend = list(ancestors(document, section)), unquoted(section.name)
    if only:
        rows = {name: rows[name] for name in only if name in rows}
    elif is_known_equal(section, above, backend, rows, limits):
        return
    if fixed((section, *above), servers.grammar).everything:
        return
    served = None if is_conditional(document, (section, *above)) else servers.read_section(document, section, only)
    if served and not only <= {server.name for server in served.servers}:
        # A template may create the server that is not found.
        served = servers.read_section(document, section)
    try:
        declared_servers = [server for line in (*served.servers, *served.templates) for server in servers_of_line(line)] if served else None
    except (ValueError, BadValue, NotExpressible):
        declared_servers = None
    if declared_servers is None:
        yield from (difference for row in rows.values() for difference in _changes_since_start(live, row))
        return
    missing, differs = set(rows), False
    for server in declared_servers:
        if only and server.name not in only:
            continue
        missing.discard(name := server.name)
        if (row := rows.get(name)) is None:
            differs = True
            declared = {member: server.values[member] for member in (ADDRESS, PORT, WEIGHT) if member in server.values}
            yield ServerDifference(backend, name, "", declared, None)
            continue
        values: Mapping[str, Any] = {OPERATIONAL: UP, **live.initially, **server.values}
        for member, value in differing_members(live, server, row, limits.get((backend, name))).items():
            differs = True
            yield ServerDifference(backend, name, member, values.get(member), value)
    for name in missing:
        yield ServerDifference(backend, name, "", None, {ADDRESS: rows[name].address, PORT: rows[name].port, WEIGHT: rows[name].weight})
    if not (only or differs or missing):
        record_equal(section, above, backend, rows, limits)


def _changes_since_start(live: Live, row: ServerState) -> Iterator[ServerDifference]:
    """Yield the changes of weight and state since the start of the worker. HAProxy records the initial values."""
    initial_state = "enabled" if row.admin & CONFIGURED_MAINT else "disabled"
    state = {"maint": "enabled", "ready": "disabled"}.get(row.forced_state, row.forced_state)
    for member, value, former in ((live.roles[STATE], state, initial_state), (WEIGHT, row.uweight, row.iweight)):
        if value != former and not row.agent_enabled:
            yield ServerDifference(row.backend_name, row.name, member, former, value)


def by_backend(states: Iterable[ServerState]) -> Rows:
    """Return the rows of `show servers state`, by backend and server."""
    rows: dict[str, dict[str, ServerState]] = {}
    for state in states:
        rows.setdefault(state.backend_name, {})[state.name] = state
    return rows
