"""Build the runtime commands that change servers, frontends and backends, send them in order, and verify their effects.

A builder such as `weight` or `delete_server` returns the commands of one change. `apply` sends the commands of any number of changes.
HAProxy may accept a command and still do nothing. So each command has a `check`, which a re-read must pass afterwards, and an `undo`, the
command that reverts it if a later command is refused. If a change fails and cannot be undone completely, the caller reloads HAProxy.

HAProxy 3.4 and later can add and delete backends (HAProxy Management Guide 3.4, section 9.3). A deletion begins with queries whether
HAProxy would refuse it, which change nothing. Every command before the first `del` can be undone.
"""

import asyncio
import itertools
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar

from haproxy_native.errors import BadValue, Place, RuntimeBusy, RuntimeConflict, RuntimeFailure, RuntimeRefused
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import MOST, argument, ip_literal, number
from haproxy_native.runtime.client import MANY, Runtime
from haproxy_native.runtime.responses import refusal_error
from haproxy_native.runtime.verification import BACKENDS, SERVERS, BackendIs, Check, Gone, Limit, Shows, is_disabled, verify_checks

STATES = ("ready", "drain", "maint")
# HAProxy refuses to delete a server in maintenance while its sessions have not ended.
_STILL_IN_USE = "still has connections"
_POLL = 0.02
ADD_SERVER = "add server"
# How many seconds HAProxy has to show a change: 3.2 to 3.4 accept a new address before they set it.
PROOF_PATIENCE = 0.5
# How many seconds to wait for the sessions of a backend that is about to be deleted.
_SESSIONS_PATIENCE = 2.0
# Refusals that only say that the backend or server is still in service: HAProxy would have reported any other obstacle first.
_IN_SERVICE = re.compile(
    r"Failed\. (?:Backend must be unpublished|Only a backend without server|Only servers in maintenance)|Wait delay expired\."
)


@dataclass(frozen=True)
class Command:
    """One runtime command."""

    text: str
    # What a re-read must show; None if HAProxy does not show the effect.
    check: Check | None = None
    # How many seconds to wait for a server's last connections.
    patience: float = 0.0
    # The command that undoes this one if a later command of the same change is refused.
    undo: str | None = None
    # Whether this is a query, which changes nothing and may be answered with a refusal.
    asks: ClassVar[bool] = False

    async def execute(self, runtime: Runtime) -> None:
        """Send the command. Retry for up to `patience` seconds while the server still has connections.

        Raises RuntimeRefused with HAProxy's message, and RuntimeAbsent if no worker answers.
        """
        deadline = asyncio.get_running_loop().time() + self.patience
        while True:
            try:
                await runtime.execute(self.text)
                return
            except RuntimeRefused as error:
                if _STILL_IN_USE not in error.answer or asyncio.get_running_loop().time() >= deadline:
                    raise
            await asyncio.sleep(_POLL)


@dataclass(frozen=True)
class Removable(Command):
    """Queries whether a backend or server can be deleted after it is out of service. Raises RuntimeRefused if not."""

    asks = True

    async def execute(self, runtime: Runtime) -> None:
        answer = await runtime.send(self.text)
        if (refusal := answers.refusal(answer)) is not None and not _IN_SERVICE.match(refusal):
            raise refusal_error(refusal, self.text)


@dataclass(frozen=True)
class OnlyServers(Command):
    """Checks that a backend has only the servers `servers`. Raises RuntimeConflict for a server that exists in the process alone."""

    asks = True
    backend: str = ""
    servers: tuple[str, ...] = ()

    async def execute(self, runtime: Runtime) -> None:
        others = sorted({row.name for row in await runtime.servers(self.backend)} - set(self.servers))
        if others:
            raise RuntimeConflict(f"backend {self.backend} has server {', '.join(others)} in the running process only", self.text)


@dataclass(frozen=True)
class Idle(Command):
    """Waits until a backend has no sessions. Raises RuntimeBusy if it still has some after `patience` seconds."""

    backend: str = ""

    async def execute(self, runtime: Runtime) -> None:
        deadline = asyncio.get_running_loop().time() + self.patience
        while True:
            rows = [row for row in answers.table(await runtime.send(self.text)) if row.get("pxname") == self.backend]
            # By the name of the server; `BACKEND` counts the sessions of the whole backend.
            sessions = {row["svname"]: int(row["scur"]) for row in rows if row["scur"] not in ("", "0")}
            if not sessions:
                return
            if asyncio.get_running_loop().time() >= deadline:
                of_backend = sessions.pop("BACKEND", 0)
                counts = [f"{count} on server {server}" for server, count in sessions.items()]
                if (others := of_backend - sum(sessions.values())) > 0:
                    counts.append(f"{others} without a server")
                raise RuntimeBusy(f"backend {self.backend} still has sessions: {', '.join(counts)}", self.text)
            await asyncio.sleep(_POLL)


@dataclass(frozen=True)
class Step:
    """A runtime change that belongs to a stored file, such as new entries of a map. All of its commands are applied, or none."""

    # The commands as people see them in a plan, without the contents of files.
    texts: Sequence[str]
    # Sends the commands. Raises RuntimeRefused if the process is unchanged, RuntimeAbsent if the outcome is unknown, and NeedsReload.
    apply: Callable[[Runtime], Awaitable[object]]


def weight(backend: str, server: str, value: int) -> Command:
    return _set("set server {} weight {}", backend, server, number("weight", value, 0, 256), uweight=value)


def address(backend: str, server: str, ip: str, port: int | None = None) -> Command:
    """Set the IPv4 or IPv6 address of a server. Without `port`, the port of the server does not change."""
    literal = ip_literal("address", ip)
    if port is None:
        return _set("set server {} addr {}", backend, server, str(literal), address=literal)
    return _set("set server {} addr {} port {}", backend, server, str(literal), number("port", port, 0, 65535), address=literal, port=port)


def state(backend: str, server: str, value: str) -> Command:
    if value not in STATES:
        raise BadValue(f"admin_state must be one of {', '.join(STATES)}, not {value!r}", place=Place(member="admin_state"))
    return _set("set server {} state {}", backend, server, value, forced_state=value)


def health(backend: str, server: str, value: str) -> Command:
    """Set a server's health to `up`, `stopping` or `down`. The command has no `check`, because a health check may undo it at once."""
    return _set("set server {} health {}", backend, server, value)


def check_port(backend: str, server: str, port: int) -> Command:
    return _set("set server {} check-port {}", backend, server, number("check port", port, 1, 65535), check_port=port)


def checks(backend: str, server: str, enabled: bool) -> Command:
    return _set("enable health {}" if enabled else "disable health {}", backend, server, check_enabled=enabled)


def agent(backend: str, server: str, enabled: bool) -> Command:
    return _set("enable agent {}" if enabled else "disable agent {}", backend, server, agent_enabled=enabled)


def agent_address(backend: str, server: str, ip: str) -> Command:
    """Set the address of an agent. HAProxy accepts the command only while the agent is enabled.

    Only IP addresses are sent, because HAProxy would block all traffic while it resolves a name.
    """
    literal = ip_literal("agent address", ip)
    return _set("set server {} agent-addr {}", backend, server, str(literal), agent_addr=literal)


def agent_send(backend: str, server: str, text: str) -> Command:
    """Set the string that is sent to an agent; HAProxy never shows it."""
    return _set("set server {} agent-send {}", backend, server, text)


def frontend_maxconn(frontend: str, value: int) -> Command:
    # HAProxy accepts any word for a number.
    limit = number("limit", value, 1, MOST)
    return Command(f"set maxconn frontend {argument(frontend)} {limit}", Limit(frontend, "", value))


def add_server(
    backend: str,
    server: str,
    words: Sequence[str],
    *,
    check: bool = False,
    agent_check: bool = False,
    ready: bool = True,
    shown: Mapping[str, object] = MappingProxyType({}),
) -> list[Command]:
    """Add a server: register it in maintenance, start its checks, then set it ready.

    `words` are the words after the name in its `server` line, with quotes and variables resolved. `shown` maps members of ServerState to
    the values that a re-read must show.

    Without `ready` the server ends in maintenance with its checks paused, like a server with `disabled` in the file. HAProxy pauses checks
    only when a server enters maintenance, so the server leaves maintenance and enters it again.
    """
    path = _path(backend, server)
    line = " ".join(argument(word) for word in words)
    made = [Command(f"{ADD_SERVER} {path} {line}", Shows(backend, server, tuple(shown.items())), undo=f"del server {path}")]
    made += [checks(backend, server, True)] if check else []
    made += [agent(backend, server, True)] if agent_check else []
    out = f"set server {path} state maint"
    if ready:
        return [*made, replace(state(backend, server, "ready"), undo=out)]
    return [*made, replace(state(backend, server, "drain"), undo=out), state(backend, server, "maint")] if check else made


def delete_server(backend: str, server: str, *, was: str = "ready", patience: float = 2.0) -> list[Command]:
    """Put a server in maintenance, and delete it when its last connection has ended, within `patience` seconds.

    If HAProxy refuses the deletion, the server gets the state `was` again.
    """
    path = _path(backend, server)
    out = replace(state(backend, server, "maint"), undo=f"set server {path} state {was}")
    return [out, Command(f"del server {path}", Gone(backend, server), patience=patience)]


def add_backend(name: str, defaults: str, words: Sequence[str] = ()) -> Command:
    """Add an empty, unpublished backend that is based on the named defaults section `defaults`."""
    line = " ".join(map(argument, (name, "from", defaults, *words)))
    return Command(f"add backend {line}", BackendIs(name, False), undo=f"del backend {argument(name)}")


def publish_backend(name: str) -> Command:
    return Command(f"publish backend {argument(name)}", BackendIs(name, True), undo=f"unpublish backend {argument(name)}")


def delete_backend(name: str, servers: Sequence[tuple[str, str]]) -> list[Command]:
    """Delete a backend and its servers. `servers`: pairs (name, state); the server gets this state again if HAProxy refuses the deletion.

    The commands query whether HAProxy would refuse the deletion, put the backend and its servers out of service, wait until the backend has
    no sessions, and delete servers and backend.
    """
    backend = argument(name)
    paths = [f"{backend}/{argument(server)}" for server, _ in servers]
    out = [delete_server(name, server, was=was) for server, was in servers]
    return [
        OnlyServers(f"show servers state {backend}", backend=name, servers=tuple(server for server, _ in servers)),
        Removable(f"wait 1 be-removable {backend}"),
        *(Removable(f"wait 1 srv-removable {path}") for path in paths),
        Command(f"unpublish backend {backend}", undo=f"publish backend {backend}"),
        Idle(f"show stat {backend} {BACKENDS + SERVERS} -1", patience=_SESSIONS_PATIENCE, backend=name),
        # The re-read of the backend proves that its servers are gone, too.
        *(replace(maintenance, check=None) for maintenance, _ in out),
        *(replace(deletion, check=None) for _, deletion in out),
        Command(f"del backend {backend}", BackendIs(name, None)),
    ]


async def apply(runtime: Runtime, commands: Sequence[Command]) -> None:
    """Send the commands, and verify their effects by reading the servers, backends and limits again.

    If HAProxy refuses a command, or shows no effect of a command, undoes the earlier commands as far as possible and raises RuntimeRefused.
    Raises RuntimeAbsent if no socket answers.
    """
    done: list[Command] = []
    try:
        await _refuse_disabled(runtime, commands)
        for batch in _batches(runtime, commands):
            await _send_batch(runtime, batch, done)
        await verify_checks(runtime, [(command.text, command.check) for command in commands if command.check], patience=PROOF_PATIENCE)
    except RuntimeRefused:
        # Without a complete undo the caller reloads.
        with suppress(RuntimeFailure):
            for command in reversed(done):
                if command.undo:
                    await runtime.execute(command.undo)
        raise


async def _refuse_disabled(runtime: Runtime, commands: Sequence[Command]) -> None:
    """Raise RuntimeConflict if a command adds a server to a disabled backend, because HAProxy 3.4 crashes on such a command."""
    made = {command.check.name for command in commands if isinstance(command.check, BackendIs)}
    adding = (command for command in commands if command.text.startswith(f"{ADD_SERVER} "))
    first = {command.check.backend: command for command in adding if isinstance(command.check, Shows)}
    for backend, command in first.items():
        if backend not in made and await is_disabled(runtime, backend):
            raise RuntimeConflict(f"Backend {backend} is disabled, so HAProxy cannot add a server to it.", command.text)


def _batches(runtime: Runtime, commands: Sequence[Command]) -> Iterator[list[Command]]:
    """Divide commands into batches, each of which is sent in one request.

    A batch has a single command unless there are more than MANY commands and the master relays them over one connection.
    """
    can_batch = len(commands) > MANY and runtime.capabilities.relays

    def key_of_batch(command: Command) -> str:
        """Return a key that is equal for commands that may be sent together; empty for a command that waits or deletes."""
        if not can_batch or type(command) is not Command or command.patience or command.text.startswith("del "):
            return ""
        return "publication" if isinstance(command.check, BackendIs) and command.check.published else "plain"

    for key, adjacent in itertools.groupby(commands, key_of_batch):
        group = list(adjacent)
        yield from [group] if key else ([command] for command in group)


async def _send_batch(runtime: Runtime, batch: Sequence[Command], done: list[Command]) -> None:
    """Send commands together, and append the commands that HAProxy executed to `done`, even if it refused one before them.

    Raises like `Command.execute`.
    """
    if len(batch) == 1:
        await batch[0].execute(runtime)
        done.append(batch[0])
        return
    refusals = [answers.refusal(answer) for answer in await runtime.send_each([command.text for command in batch])]
    done += [command for command, refusal in zip(batch, refusals, strict=True) if refusal is None]
    for command, refusal in zip(batch, refusals, strict=True):
        if refusal == answers.PROXY_STOPPED:
            await command.execute(runtime)
            done.append(command)
        elif refusal is not None:
            raise refusal_error(refusal, command.text)


def _set(template: str, backend: str, server: str, *words: str | int, **shown: object) -> Command:
    """Build a command that changes a server. `shown`: the members of ServerState that a re-read must show, if any."""
    text = template.format(_path(backend, server), *map(argument, words))
    return Command(text, Shows(backend, server, tuple(shown.items())) if shown else None)


def _path(backend: str, server: str) -> str:
    return f"{argument(backend)}/{argument(server)}"


def _integer(word: str) -> int:
    try:
        return int(word)
    except ValueError as error:
        raise BadValue(f"not a number: {word!r}") from error


# The actions of a raw push (`X-Runtime-Actions`): how many words each needs, and its command.
ACTIONS: dict[str, tuple[int, Callable[..., Command]]] = {
    "SetFrontendMaxConn": (2, lambda frontend, value: frontend_maxconn(frontend, _integer(value))),
    "SetServerWeight": (3, lambda backend, server, value: weight(backend, server, _integer(value))),
    "SetServerCheckPort": (3, lambda backend, server, port: check_port(backend, server, _integer(port))),
    "SetServerAddr": (4, lambda backend, server, ip, port: address(backend, server, ip, _integer(port))),
    "SetServerState": (3, state),
    "EnableAgentCheck": (2, lambda backend, server: agent(backend, server, True)),
    "DisableAgentCheck": (2, lambda backend, server: agent(backend, server, False)),
    "SetServerAgentAddr": (3, agent_address),
    "SetServerAgentSend": (3, agent_send),
}


async def run_actions(runtime: Runtime, header: str) -> None:
    """Run the actions of a raw push. `;` separates actions, blanks separate their words. Unknown and empty actions are skipped.

    The first action that fails raises RuntimeRefused `cannot execute <action>: <detail>`, or another RuntimeFailure. Earlier actions stay
    applied.
    """
    for item in header.split(";"):
        name, *words = item.split() or [""]
        if name not in ACTIONS:
            continue
        count, build = ACTIONS[name]
        if len(words) < count:
            raise _action_failed(name, "not enough parameters")
        try:
            await apply(runtime, [build(*words[:count])])
        except BadValue as error:
            raise _action_failed(name, f"{runtime.address} bad request: {error.detail}") from error
        except RuntimeRefused as error:
            raise _action_failed(name, f"{runtime.address} {error.detail}") from error


def _action_failed(name: str, why: str) -> RuntimeRefused:
    # Always this class, whatever HAProxy's reason: the header is wrong, but the configuration of the same request is already committed.
    return RuntimeRefused(why, name, f"cannot execute {name}: {why}")
