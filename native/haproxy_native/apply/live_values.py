"""What the running process has of what a plan changes: servers, and the lists made of stored files."""

from collections.abc import Awaitable, Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from haproxy_native.apply.moves import AGAIN, Values, refuse_moved_values
from haproxy_native.commit.preview import Preview
from haproxy_native.editing.object_names import parsed, spelled
from haproxy_native.errors import Moved, RuntimeFailure, RuntimeRefused
from haproxy_native.runtime.client import MANY, Runtime
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.storage.store import Store

BACKEND, LISTEN, SERVER = "backend", "listen", "server"
# By their objects.
Files = Mapping[str, tuple[Store, Path]]


def servers_of(preview: Preview) -> set[str]:
    """Those that its commands change, and those that it changes in the configuration."""
    named = (parsed(effect.object) for effect in preview.effects if f"/{SERVER}/" in effect.object)
    found = {spelled(BACKEND, each[1], SERVER, each[3]) for each in named if each[0] in (BACKEND, LISTEN) and each[2] == SERVER}
    return found | {spelled(BACKEND, backend, SERVER, server) for backend, server in preview.servers}


async def values(runtime: Runtime, servers: Collection[str], files: Files) -> Values:
    """What servers do, and digests of what has been made of files. Raises RuntimeFailure."""
    found: dict[str, Any] = {}
    if servers:
        backends = {parsed(each)[1] for each in servers}
        shown = {spelled(BACKEND, each.backend_name, SERVER, each.name): each for each in await _shown(runtime, backends)}
        found = {each: _members(shown[each]) if each in shown else None for each in sorted(servers)}
    for object_, (store, path) in files.items():
        found[object_] = await store.in_process(runtime, path)
    return found


async def known_values(runtime: Runtime, preview: Preview, files: Files) -> Values | None:
    """Those of what a plan changes, `files` among it; None where HAProxy does not say."""
    with suppress(RuntimeFailure):
        return await values(runtime, servers_of(preview), files)
    return None


def verifying(runtime: Runtime, planned: Values | None, files: Files) -> Callable[[], Awaitable[None]] | None:
    """What raises Moved where the process has anything else by now, or does not say; None for a plan that has no values."""
    if not planned:
        return None

    async def verify() -> None:
        try:
            now = await values(
                runtime, [each for each in planned if each not in files], {name: files[name] for name in files if name in planned}
            )
        except RuntimeFailure as error:
            raise Moved(f"HAProxy does not say whether it is as it was when the plan was made; {AGAIN}: {error}") from error
        refuse_moved_values(planned, now)

    return verify


async def _shown(runtime: Runtime, backends: Collection[str]) -> Iterable[ServerState]:
    if len(backends) > MANY:
        return await runtime.servers()
    found: list[ServerState] = []
    for backend in backends:
        try:
            found += await runtime.servers(backend)
        except RuntimeRefused:
            # There is no such backend yet.
            continue
    return found


def _members(state: ServerState) -> dict[str, Any]:
    """Without what an agent or a resolver changes all the time."""
    found: dict[str, Any] = {} if state.agent_enabled else {"state": state.forced_state, "weight": state.uweight}
    return found if state.fqdn != "-" else found | {"address": state.address, "port": state.port}
