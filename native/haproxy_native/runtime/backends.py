"""Backends that are added, published, unpublished and deleted in the running process (HAProxy Management Guide 3.4, section 9.3)."""

import asyncio
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from haproxy_native.errors import RuntimeBusy, RuntimeConflict
from haproxy_native.runtime import commands
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import POLL, Command
from haproxy_native.runtime.responses import refused
from haproxy_native.runtime.verification import BACKENDS, SERVERS, BackendIs

# How many seconds the sessions of a backend that is to be deleted have to end.
PATIENCE = 2.0
# What stands in the way of a backend in service is named before these two, and that of a server before the last.
_IN_SERVICE = re.compile(
    r"Failed\. (?:Backend must be unpublished|Only a backend without server|Only servers in maintenance)|Wait delay expired\."
)


@dataclass(frozen=True)
class Removable(Command):
    """Asks whether a backend, or a server of it, can be deleted once it is out of service. Changes nothing."""

    asks = True

    async def carry_out(self, runtime: Runtime) -> None:
        answer = await runtime.send(self.text)
        if (refusal := answers.refusal(answer)) is not None and not _IN_SERVICE.match(refusal):
            raise refused(refusal, self.text)


@dataclass(frozen=True)
class OnlyServers(Command):
    """Looks whether the backend has other servers than these, which the configuration does not name."""

    asks = True
    backend: str = ""
    servers: tuple[str, ...] = ()

    async def carry_out(self, runtime: Runtime) -> None:
        others = sorted({row.name for row in await runtime.servers(self.backend)} - set(self.servers))
        if others:
            raise RuntimeConflict(f"the running process alone has server {', '.join(others)} in backend {self.backend}", self.text)


@dataclass(frozen=True)
class Idle(Command):
    """Waits for the last session of a backend, at most `patience` seconds."""

    backend: str = ""

    async def carry_out(self, runtime: Runtime) -> None:
        deadline = asyncio.get_running_loop().time() + self.patience
        while sessions := _sessions(self.backend, await runtime.send(self.text)):
            if asyncio.get_running_loop().time() >= deadline:
                raise RuntimeBusy(f"backend {self.backend} still has sessions: {_told(sessions)}", self.text)
            await asyncio.sleep(POLL)


def add(name: str, source: str, words: Sequence[str] = ()) -> Command:
    """An empty backend from a defaults section, unpublished."""
    line = " ".join(map(argument, (name, "from", source, *words)))
    return Command(f"add backend {line}", BackendIs(name, False), undo=f"del backend {argument(name)}")


def publish(name: str) -> Command:
    return Command(f"publish backend {argument(name)}", BackendIs(name, True), undo=f"unpublish backend {argument(name)}")


def delete(name: str, servers: Sequence[tuple[str, str]]) -> list[Command]:
    """Asks HAProxy first, then takes the backend and its servers, each with the state to go back to, out of service, waits for its
    sessions and deletes it. Up to the first deletion everything can be taken back.
    """
    backend = argument(name)
    paths = [f"{backend}/{argument(server)}" for server, _ in servers]
    out = [commands.delete_server(name, server, was=was) for server, was in servers]
    return [
        OnlyServers(f"show servers state {backend}", backend=name, servers=tuple(server for server, _ in servers)),
        Removable(f"wait 1 be-removable {backend}"),
        *(Removable(f"wait 1 srv-removable {path}") for path in paths),
        Command(f"unpublish backend {backend}", undo=f"publish backend {backend}"),
        Idle(f"show stat {backend} {BACKENDS + SERVERS} -1", patience=PATIENCE, backend=name),
        # A server of a backend that goes is not looked for afterwards.
        *(replace(commanded[0], check=None) for commanded in out),
        *(replace(commanded[1], check=None) for commanded in out),
        Command(f"del backend {backend}", BackendIs(name, None)),
    ]


def _sessions(backend: str, answer: str) -> dict[str, int]:
    """The sessions of each server, and of the backend under `BACKEND`, where there are any."""
    rows = (row for row in answers.table(answer) if row.get("pxname") == backend)
    return {row["svname"]: int(row["scur"]) for row in rows if row["scur"] not in ("", "0")}


def _told(sessions: dict[str, int]) -> str:
    return ", ".join(_each(sessions))


def _each(sessions: dict[str, int]) -> Iterator[str]:
    whole = sessions.pop("BACKEND", 0)
    yield from (f"{count} on server {server}" for server, count in sessions.items())
    if (others := whole - sum(sessions.values())) > 0:
        yield f"{others} without a server"
