"""What the running process has of what a plan changes: servers, and the lists made of stored files."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from haproxy_native.beside import beside
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.preview import Preview
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.errors import Moved, RuntimeFailure, RuntimeRefused
from haproxy_native.features.apply.moves import AGAIN, Values, refuse_moved_values
from haproxy_native.runtime.client import MANY, Runtime
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.storage.store import Store

BACKEND, LISTEN, SERVER = "backend", "listen", "server"
# By their objects.
Files = Mapping[str, tuple[Store, Path]]


def servers_of(preview: Preview) -> set[str]:
    """Returns the servers that the plan's commands or its configuration change."""
    named = (parsed(effect.object) for effect in preview.effects if f"/{SERVER}/" in effect.object)
    servers = {spelled(BACKEND, name[1], SERVER, name[3]) for name in named if name[0] in (BACKEND, LISTEN) and name[2] == SERVER}
    return servers | {spelled(BACKEND, backend, SERVER, server) for backend, server in preview.servers}


async def values(context: CommitContext, servers: Collection[str], files: Files) -> Values:
    """What servers do, and digests of what has been made of files. Raises RuntimeFailure."""
    values_: dict[str, Any] = {}
    if servers:
        states = await _shown(context.runtime, await beside(lambda: {parsed(server)[1] for server in servers}))
        values_ |= await beside(_of_servers, servers, states)
    for object_, (store, path) in files.items():
        values_[object_] = await store.in_process(context, path)
    return values_


def _of_servers(servers: Collection[str], states: Iterable[ServerState]) -> Values:
    shown = {spelled(BACKEND, server.backend_name, SERVER, server.name): server for server in states}
    return {server: _members(shown[server]) if server in shown else None for server in sorted(servers)}


async def known_values(context: CommitContext, preview: Preview, files: Files) -> Values | None:
    """Returns the running values of what a plan changes, including `files`; None if HAProxy does not answer."""
    with suppress(RuntimeFailure):
        return await values(context, await beside(servers_of, preview), files)
    return None


def verifying(context: CommitContext, planned: Values | None, files: Files) -> Callable[[], Awaitable[None]] | None:
    """What raises Moved where the process has anything else by now, or does not say; None for a plan that has no values."""
    if not planned:
        return None

    async def verify() -> None:
        try:
            now = await values(
                context, [object_ for object_ in planned if object_ not in files], {name: files[name] for name in files if name in planned}
            )
        except RuntimeFailure as error:
            raise Moved(f"HAProxy does not say whether it is as it was when the plan was made; {AGAIN}: {error}") from error
        refuse_moved_values(planned, now)

    return verify


async def _shown(runtime: Runtime, backends: Collection[str]) -> Iterable[ServerState]:
    if len(backends) > MANY:
        return await runtime.servers()
    states: list[ServerState] = []
    for backend in backends:
        try:
            states += await runtime.servers(backend)
        except RuntimeRefused:
            # There is no such backend yet.
            continue
    return states


def _members(state: ServerState) -> dict[str, Any]:
    """Returns a server's members, without those that an agent or a resolver keeps changing."""
    members: dict[str, Any] = {} if state.agent_enabled else {"state": state.forced_state, "weight": state.uweight}
    return members if state.fqdn != "-" else members | {"address": state.address, "port": state.port}
