"""Servers that are added to the process, and deleted from it.

A deleted one is added again as it was added, or as the configuration has it that the process runs; HAProxy puts it behind the others.
"""

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import Any

from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.shown import Shown
from haproxy_native.editing.object_names import parsed
from haproxy_native.errors import BadValue, Conflict, RuntimeFailure, RuntimeRefused
from haproxy_native.overrides.ledger import MEMBERS
from haproxy_native.overrides.overrides import HEALTH, Overrides, setting, values_of
from haproxy_native.planning.added_server import added
from haproxy_native.planning.live import NotExpressible
from haproxy_native.planning.server_plan import ServerPlanner
from haproxy_native.planning.servers import EffectiveServer, Servers
from haproxy_native.process_objects.object_kind import ObjectKind
from haproxy_native.runtime import commands
from haproxy_native.runtime.commands import Command
from haproxy_native.runtime.server_state import ServerState

# Compared with those of former days, beside the members that an operator sets; under the names of ServerState.
FIELDS = (
    "iweight",
    "fqdn",
    "srvrecord",
    "use_ssl",
    "check_enabled",
    "check_addr",
    "check_port",
    "agent_enabled",
    "agent_addr",
    "agent_port",
)
ADDED, CONFIGURED, WORDS, WORKER = "added", "configured", "words", "worker"
KINDS = ("backend", "listen")
# How long a server that is to be deleted may take to finish what it has begun; seconds.
PATIENCE = 1.0


def given(values: Mapping[str, Any]) -> bytes:
    """The members with which a server is added, as the history keeps them."""
    return json.dumps({ADDED: values}).encode()


class ProcessServers(ObjectKind):
    def __init__(self, context: CommitContext, overrides: Overrides, servers: Servers) -> None:
        super().__init__(context)
        self._overrides, self._servers = overrides, servers

    async def look(self, object_: str, given: bytes | None = None) -> Shown:
        _, backend, _, name = parsed(object_)
        if (state := await self._state(backend, name)) is None:
            return Shown(None)
        made = await self._made(object_, given)
        values = {**made.get(CONFIGURED, {}), **made.get(ADDED, {})}
        return Shown({**values, **values_of(state), **{name: getattr(state, name) for name in FIELDS}}, _packed(made))

    def stays(self, member: str) -> bool:
        return member in MEMBERS or member in FIELDS

    async def make(self, object_: str, now: Shown, wanted: Shown) -> None:
        _, backend, _, name = parsed(object_)
        if (state := await self._state(backend, name)) is not None:
            await commands.apply(self.runtime, commands.delete_server(backend, name, was=state.forced_state, patience=PATIENCE))
            drifts(self.context, self._overrides, (backend, name), state, None)
        if wanted.members is not None:
            await self._add(backend, name, wanted)

    async def _add(self, backend: str, name: str, wanted: Shown) -> None:
        """As it was defined, then what was set since. Raises RuntimeFailure with nothing added."""
        made = json.loads(wanted.data or b"{}")
        await commands.apply(self.runtime, self._adding(backend, name, made))
        was = {**(wanted.members or {})}
        try:
            first = await self._there(backend, name)
            await commands.apply(self.runtime, list(setting(first, {member: was[member] for member in MEMBERS})))
            if was[HEALTH] == "down" != values_of(await self._there(backend, name))[HEALTH] and not was["check_enabled"]:
                await commands.apply(self.runtime, [commands.health(backend, name, was[HEALTH])])
            last = await self._there(backend, name)
        except RuntimeFailure:
            with suppress(RuntimeFailure):
                await commands.apply(self.runtime, commands.delete_server(backend, name))
            raise
        drifts(self.context, self._overrides, (backend, name), None, last)
        self._overrides.record([(first, last)])

    def _adding(self, backend: str, name: str, made: Mapping[str, Any]) -> Sequence[Command]:
        """Raises Conflict where HAProxy takes no such server while it runs."""
        if ADDED in made:
            with suppress(NotExpressible, BadValue):
                return added(backend, made[ADDED], self.runtime.capabilities)
        if CONFIGURED not in made:
            raise Conflict(
                "how it was defined is not known: neither has the running configuration such a server, nor was it added by a call"
            )
        planner = ServerPlanner(self._servers, self.runtime.capabilities, backend)
        planner.plan([], [EffectiveServer(name, 0, made[CONFIGURED], tuple(made[WORDS]))])
        if planner.reasons:
            raise Conflict(f"{planner.reasons[0][1]}; a reload brings it back")
        return planner.commands

    async def _made(self, object_: str, given: bytes | None) -> dict[str, Any]:
        """How the server was defined in this worker, as JSON keeps it; empty where that is not known."""
        worker = await self.runtime.worker()
        identity = f"{worker.pid}@{worker.started}"
        if given:
            made: dict[str, Any] = json.loads(given)
            return {**made, WORKER: identity} if ADDED in made else made
        former = await self.context.held_of(object_) if self.context.held_of else None
        found = (made for data in former or () if (made := json.loads(data)).get(WORKER) == identity)
        return next(found, None) or self._configured(object_)

    def _configured(self, object_: str) -> dict[str, Any]:
        """By the configuration that the process runs."""
        _, backend, _, name = parsed(object_)
        document = self.context.running.document
        section = next((found for kind in KINDS if document and (found := document.find(kind, backend))), None)
        there = self._servers.of(document, section) if document and section else None
        for server in there.servers if there else ():
            if server.name == name:
                return {CONFIGURED: dict(server.values), WORDS: list(server.opaque)}
        return {}

    async def _state(self, backend: str, name: str) -> ServerState | None:
        with suppress(RuntimeRefused):
            return next((server for server in await self.runtime.servers(backend) if server.name == name), None)
        return None

    async def _there(self, backend: str, name: str) -> ServerState:
        if (state := await self._state(backend, name)) is None:
            raise RuntimeRefused("it is not there although HAProxy has added it", f"add server {backend}/{name}")
        return state


def drifts(
    context: CommitContext, overrides: Overrides, server: tuple[str, str], before: ServerState | None, after: ServerState | None
) -> None:
    """So that no later commit claims that the process has the servers of its text. `server`: backend and name."""
    was, now = before.settings if before else "", after.settings if after else ""
    context.running.drifts(f"server {'/'.join(server)}", was, now)
    if before and not after:
        overrides.forget(before)


def _packed(made: Mapping[str, Any]) -> bytes | None:
    return json.dumps(made).encode() if made else None
