"""Runtime commands as data, with their verification: by their answer and by a re-read.

A builder gives the command, or the commands in their order, of one change; `apply` carries out any number of them.
"""

import asyncio
import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import ClassVar, Protocol

from haproxy_native.errors import BadValue, RuntimeAbsent, RuntimeConflict, RuntimeFailure, RuntimeRefused
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import MOST, argument, ip_literal, number
from haproxy_native.runtime.client import MANY, Runtime
from haproxy_native.runtime.responses import refused
from haproxy_native.runtime.verification import BackendIs, Check, Gone, Limit, Shows, is_disabled, prove

STATES = ("ready", "drain", "maint")
# A server in maintenance still finishes what it has begun.
STILL_IN_USE = "still has connections"
POLL = 0.02
ADD_SERVER = "add server"
# How many seconds HAProxy has to show a change: 3.2 to 3.4 accept a new address before they set it.
PROOF_PATIENCE = 0.5


@dataclass(frozen=True)
class Command:
    """`check` is what a re-read has to show, None where HAProxy shows nothing of it.

    `patience`: how many seconds to wait for a server's last connections. `undo` takes the command back when a later one of
    the same change is refused.
    """

    text: str
    check: Check | None = None
    patience: float = 0.0
    undo: str | None = None
    # A question whose answer may be a refusal, and that changes nothing.
    asks: ClassVar[bool] = False

    async def carry_out(self, runtime: Runtime) -> None:
        """Raises RuntimeRefused with HAProxy's words, RuntimeAbsent where no worker answers."""
        deadline = asyncio.get_running_loop().time() + self.patience
        while True:
            try:
                await runtime.ask(self.text)
                return
            except RuntimeRefused as error:
                if STILL_IN_USE not in error.answer or asyncio.get_running_loop().time() >= deadline:
                    raise
            await asyncio.sleep(POLL)


class Step(Protocol):
    """A change of the process that belongs to a stored file: a map's entries, a certificate. Many commands, made whole or not at all."""

    @property
    def texts(self) -> Sequence[str]:
        """Its commands, without what a file would add, for people to read."""

    async def carry_out(self, runtime: Runtime) -> None:
        """Raises RuntimeRefused with the process as it was before, RuntimeAbsent if its outcome is unknown."""

    async def take_back(self, runtime: Runtime) -> None:
        """The process is as it was before the step was carried out. Raises RuntimeFailure."""


async def carry_out(runtime: Runtime, steps: Sequence[Step]) -> None:
    """All of them or none. Raises RuntimeRefused with the process as it was, RuntimeAbsent if its state is unknown."""
    done: list[Step] = []
    try:
        for step in steps:
            await step.carry_out(runtime)
            done.append(step)
    except RuntimeRefused as refused:
        try:
            for step in reversed(done):
                await step.take_back(runtime)
        except RuntimeFailure as error:
            raise RuntimeAbsent(f"{refused}; and what was done before could not be taken back: {error}") from error
        raise


def weight(backend: str, server: str, value: int) -> Command:
    return _set("set server {} weight {}", backend, server, number(value, 0, 256), uweight=value)


def address(backend: str, server: str, ip: str, port: int | None = None) -> Command:
    """IPv4 or IPv6 only; without a port the server keeps its own."""
    literal = ip_literal(ip)
    if port is None:
        return _set("set server {} addr {}", backend, server, str(literal), address=literal)
    return _set("set server {} addr {} port {}", backend, server, str(literal), number(port, 0, 65535), address=literal, port=port)


def state(backend: str, server: str, value: str) -> Command:
    if value not in STATES:
        raise BadValue(f"a server's state is one of {', '.join(STATES)}, not {value!r}")
    return _set("set server {} state {}", backend, server, value, forced_state=value)


def health(backend: str, server: str, value: str) -> Command:
    """up, stopping or down: until the next check says otherwise, so a re-read proves nothing."""
    return _set("set server {} health {}", backend, server, value)


def check_port(backend: str, server: str, port: int) -> Command:
    return _set("set server {} check-port {}", backend, server, number(port, 1, 65535), check_port=port)


def checks(backend: str, server: str, enabled: bool) -> Command:
    return _set("enable health {}" if enabled else "disable health {}", backend, server, check_enabled=enabled)


def agent(backend: str, server: str, enabled: bool) -> Command:
    return _set("enable agent {}" if enabled else "disable agent {}", backend, server, agent_enabled=enabled)


def agent_address(backend: str, server: str, ip: str) -> Command:
    """Build the command for an agent's address, which HAProxy accepts while the agent is enabled.

    HAProxy would resolve a name while all traffic waits, so only IP addresses are sent.
    """
    literal = ip_literal(ip)
    return _set("set server {} agent-addr {}", backend, server, str(literal), agent_addr=literal)


def agent_send(backend: str, server: str, text: str) -> Command:
    """HAProxy shows the string nowhere."""
    return _set("set server {} agent-send {}", backend, server, text)


def frontend_maxconn(frontend: str, value: int) -> Command:
    """HAProxy takes any word for a number."""
    return Command(f"set maxconn frontend {argument(frontend)} {number(value, 1, MOST)}", Limit(frontend, "", value))


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
    """A server that serves: registered in maintenance, its checks started, then ready.

    One that is not to be ready has its checks paused, as those of a server that the file disables: HAProxy pauses them when a server enters
    maintenance, so it leaves it first. `words` are those of its line behind the name, as HAProxy understands them (quotes and variables
    resolved). `shown` is what a re-read has to show of it.
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
    """Out of service at once, deleted when its last connection has ended; back to the state it `was` in when HAProxy refuses."""
    path = _path(backend, server)
    out = replace(state(backend, server, "maint"), undo=f"set server {path} state {was}")
    return [out, Command(f"del server {path}", Gone(backend, server), patience=patience)]


async def apply(runtime: Runtime, commands: Sequence[Command]) -> None:
    """Carries the commands out and proves them. Raises RuntimeRefused at the first that is refused or not to be seen afterwards,
    when those before it that can be taken back have been; RuntimeAbsent when no socket answers."""
    done: list[Command] = []
    try:
        await _refuse_disabled(runtime, commands)
        for some in _batches(runtime, commands):
            await _carry_out(runtime, some, done)
        await prove(runtime, [(command.text, command.check) for command in commands if command.check], patience=PROOF_PATIENCE)
    except RuntimeRefused:
        await _undo(runtime, done)
        raise


async def _refuse_disabled(runtime: Runtime, commands: Sequence[Command]) -> None:
    """Raise RuntimeConflict for a server that is to be added to a disabled backend: HAProxy 3.4 ends on that command."""
    made = {command.check.name for command in commands if isinstance(command.check, BackendIs)}
    first = {command.check.backend: command for command in commands if _adds_server(command) and isinstance(command.check, Shows)}
    for backend, command in first.items():
        if backend not in made and await is_disabled(runtime, backend):
            raise RuntimeConflict(f"Backend {backend} is disabled, and HAProxy adds no server to it.", command.text)


def _adds_server(command: Command) -> bool:
    return command.text.startswith(f"{ADD_SERVER} ")


def _batches(runtime: Runtime, commands: Sequence[Command]) -> Iterator[list[Command]]:
    """Many plain commands are sent together where a master relays them over one connection, publications when all else is done."""
    together = len(commands) > MANY and runtime.capabilities.relays
    for key, some in itertools.groupby(commands, lambda command: together and _kind(command)):
        commanded = list(some)
        yield from [commanded] if key else ([command] for command in commanded)


def _kind(command: Command) -> str:
    """Commands of one kind that stand together may be sent together; none for those that wait or delete."""
    if type(command) is not Command or command.patience or command.text.startswith("del "):
        return ""
    return "publication" if isinstance(command.check, BackendIs) and command.check.published else "plain"


async def _carry_out(runtime: Runtime, some: Sequence[Command], done: list[Command]) -> None:
    """Adds to `done` what was carried out, of several sent together also what stands behind a refusal. Raises as `Command.carry_out`."""
    if len(some) == 1:
        await some[0].carry_out(runtime)
        done.append(some[0])
        return
    refusals = [answers.refusal(answer) for answer in await runtime.each([command.text for command in some])]
    done += [command for command, refusal in zip(some, refusals, strict=True) if refusal is None]
    for command, refusal in zip(some, refusals, strict=True):
        if refusal == answers.PROXY_STOPPED:
            await command.carry_out(runtime)
            done.append(command)
        elif refusal is not None:
            raise refused(refusal, command.text)


async def _undo(runtime: Runtime, done: Iterable[Command]) -> None:
    for command in reversed(list(done)):
        if command.undo:
            try:
                await runtime.ask(command.undo)
            except RuntimeFailure:
                # Nothing more can be done here; the caller reloads.
                return


def _set(template: str, backend: str, server: str, *words: str | int, **shown: object) -> Command:
    """A change of one server; without anything shown its answer alone has to do."""
    text = template.format(_path(backend, server), *map(argument, words))
    return Command(text, Shows(backend, server, tuple(shown.items())) if shown else None)


def _path(backend: str, server: str) -> str:
    return f"{argument(backend)}/{argument(server)}"
