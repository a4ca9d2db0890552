"""Verify the effects of commands, by reading the servers, backends and limits that HAProxy shows afterwards.

Each command has a `Check`, the state that must be visible afterwards. `verify_checks` gets the checks of a whole change, and reads each
backend only once.
"""

import asyncio
from collections.abc import Collection, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address

from haproxy_native.errors import RuntimeMissing, RuntimeRefused, RuntimeUnverified
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import MANY, Runtime
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.threads import LARGE, run_in_thread_if

FRONTENDS, BACKENDS, SERVERS = 1, 2, 4
POLL = 0.02
# Follows the status of an unpublished backend.
_UNPUBLISHED = "(UNPUB)"
_BACKEND_STATES = {True: "published", False: "unpublished", None: "gone"}


@dataclass(frozen=True)
class Shows:
    """The server exists, and these members of its ServerState have these values."""

    backend: str
    server: str
    members: tuple[tuple[str, object], ...] = ()


@dataclass(frozen=True)
class Gone:
    """The server does not exist."""

    backend: str
    server: str


@dataclass(frozen=True)
class Limit:
    """The connection limit of a server, or of a frontend if `server` is empty (`slim` of `show stat`)."""

    proxy: str
    server: str
    value: int


@dataclass(frozen=True)
class BackendIs:
    name: str
    # None if the backend does not exist.
    published: bool | None


Check = Shows | Gone | Limit | BackendIs


async def verify_checks(runtime: Runtime, changes: Sequence[tuple[str, Check]], *, patience: float = 0.0) -> None:
    """Verify the checks of a change. Raises RuntimeUnverified with the first command whose effect HAProxy does not show.

    `changes`: pairs (command, check). If several checks concern one member, only the last one must pass, because a change may put a server
    out of service and back. Servers are read again for up to `patience` seconds until their checks pass.
    """
    # The expected members of each server; the empty name stands for its existence.
    servers: dict[tuple[str, str], dict[str, tuple[str, object]]] = {}
    limits: dict[tuple[str, str], tuple[str, Limit]] = {}
    backends: dict[str, tuple[str, BackendIs]] = {}
    for command, check in changes:
        if isinstance(check, Limit):
            limits[check.proxy, check.server] = (command, check)
        elif isinstance(check, BackendIs):
            backends[check.name] = (command, check)
        elif isinstance(check, Gone):
            servers[check.backend, check.server] = {"": (command, False)}
        else:
            expected = servers.setdefault((check.backend, check.server), {})
            expected[""] = (command, True)
            expected.update((member, (command, value)) for member, value in check.members)
    if backends:
        only = argument(next(iter(backends))) if len(backends) == 1 else "-1"
        shown = {row["pxname"]: row["status"] for row in answers.table(await runtime.send(f"show stat {only} {BACKENDS} -1"))}
        for name, (command, backend) in backends.items():
            is_published = not shown[name].endswith(_UNPUBLISHED) if name in shown else None
            if is_published is not backend.published:
                states = f"{_BACKEND_STATES[is_published]}, not {_BACKEND_STATES[backend.published]}"
                raise RuntimeUnverified(f"HAProxy accepted it, but backend {name} is {states}", command)
    await _verify_servers(runtime, servers, patience)
    for command, limit in limits.values():
        await _verify_limit(runtime, command, limit)


async def _verify_servers(runtime: Runtime, servers: dict[tuple[str, str], dict[str, tuple[str, object]]], patience: float) -> None:
    deadline = asyncio.get_running_loop().time() + patience
    while True:
        rows = await server_rows(runtime, {backend for backend, _ in servers})
        problems = (
            problem
            for (backend, server), expected in servers.items()
            for problem in _differences(f"{backend}/{server}", rows[backend].get(server), expected)
        )
        if (unseen := next(problems, None)) is None:
            return
        command, problem = unseen
        if asyncio.get_running_loop().time() >= deadline:
            raise RuntimeUnverified(f"HAProxy accepted it, but {problem}", command)
        await asyncio.sleep(POLL)


async def is_disabled(runtime: Runtime, backend: str) -> bool:
    """Return whether the configuration disables a backend; False if the backend does not exist.

    The worker has a disabled backend, but `show stat` omits it.
    """
    # If a frontend has the same name, HAProxy may find only the frontend by that name; `-1` lists all proxies.
    for proxies in (argument(backend), "-1"):
        if any(row["pxname"] == backend for row in answers.table(await runtime.send(f"show stat {proxies} {BACKENDS} -1"))):
            return False
    try:
        await runtime.servers(backend)
    except RuntimeMissing:
        return False
    return True


async def server_rows(runtime: Runtime, backends: Collection[str]) -> dict[str, dict[str, ServerState]]:
    """Return the servers of each backend by name; no servers for a backend that the worker does not have."""
    states: dict[str, dict[str, ServerState]] = {backend: {} for backend in backends}
    if len(backends) <= MANY:
        for backend in backends:
            with suppress(RuntimeRefused):
                states[backend] = {row.name: row for row in await runtime.servers(backend)}
        return states
    for row in await runtime.servers():
        if row.backend_name in states:
            states[row.backend_name][row.name] = row
    return states


async def server_limits(runtime: Runtime, backends: Collection[str] | None = None) -> dict[tuple[str, str], int]:
    """Return connection limits by (backend, server); 0 means no limit. Without `backends`, returns the limits of all servers."""
    only = ["-1"] if backends is None or len(backends) > MANY else [argument(backend) for backend in backends]
    texts = [await runtime.send(f"show stat {proxies} {SERVERS} -1") for proxies in only]
    return await run_in_thread_if(sum(map(len, texts)) > LARGE, lambda: {key: limit for text in texts for key, limit in parse_limits(text)})


def parse_limits(text: str) -> Iterator[tuple[tuple[str, str], int]]:
    """Parse an answer to `show stat` to ((backend, server), limit)."""
    head, _, rest = text.partition("\n")
    place = head.split(",").index("slim") if "slim" in head else 0
    for line in rest.splitlines():
        if len(columns := line.split(",", place + 1)) > place > 0:
            yield (columns[0], columns[1]), int(columns[place] or 0)


def _differences(name: str, row: ServerState | None, expected: dict[str, tuple[str, object]]) -> Iterator[tuple[str, str]]:
    command, exists = expected[""]
    if row is None or not exists:
        if exists or row:
            yield command, f"there is no {name}" if exists else f"{name} is still there"
        return
    for member, (command, value) in expected.items():
        shown = getattr(row, member) if member else True
        if not is_same(value, shown):
            yield command, f"{member} of {name} is {shown}, not {value}"


def holds(row: ServerState, check: Shows) -> bool:
    """Return whether the row of a server satisfies a check."""
    return all(is_same(value, getattr(row, member)) for member, value in check.members)


def is_same(expected: object, shown: object) -> bool:
    """Return whether two values are equal. HAProxy and Python may write an address differently, such as `::ffff:192.0.2.1`."""
    if isinstance(expected, IPv4Address | IPv6Address):
        with suppress(ValueError):
            return ip_address(str(shown)) == expected
    return expected == shown


async def _verify_limit(runtime: Runtime, command: str, limit: Limit) -> None:
    row, kind = (limit.server, SERVERS) if limit.server else ("FRONTEND", FRONTENDS)
    shown: str | None = None
    # A frontend and a backend may have the same name, and HAProxy may find the wrong one by that name; `-1` lists all proxies.
    for proxies in (argument(limit.proxy), "-1"):
        lines = answers.table(await runtime.send(f"show stat {proxies} {kind} -1"))
        shown = next((line["slim"] for line in lines if line["pxname"] == limit.proxy and line["svname"] == row), None)
        if shown is not None:
            break
    if shown is None or int(shown or 0) != limit.value:
        raise RuntimeUnverified(f"HAProxy accepted it, but the limit shown is {shown or 'none'}, not {limit.value}", command)
