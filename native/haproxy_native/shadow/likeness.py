"""Makes a shadow like the running HAProxy where commands can: the states and weights of its servers. Makes it forget what it has
counted since it was started: its stick tables.

(Management Guide, sections 9.3, "set server", "show table", "clear table")
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from haproxy_native.beside import LARGE, beside_if
from haproxy_native.runtime import commands as runtime_commands
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.server_state import ServerState, server_states
from haproxy_native.runtime.socket import Socket

_USED = re.compile(r"^# table: (\S+), .*\bused:[1-9]", re.MULTILINE)
# Servers whose comparison takes a millisecond or more.
MANY = 1000
# By the names of backend and server: state and weight.
Conditions = Mapping[tuple[str, str], tuple[str, int]]


def conditions(servers: Iterable[ServerState]) -> Conditions:
    """`ready`, `drain` or `maint`; a server that is down is in maintenance, for nothing checks those of a shadow."""
    return {
        (server.backend_name, server.name): ("maint" if server.operational_state == "down" else server.admin_state, server.weight)
        for server in servers
    }


def commands(there: Conditions, wanted: Conditions) -> Iterator[str]:
    """What makes servers that are there as wanted."""
    for name, (state, weight) in wanted.items():
        has_state, has_weight = there.get(name, (state, weight))
        if state != has_state:
            yield runtime_commands.state(*name, state).text
        if weight != has_weight:
            yield runtime_commands.weight(*name, weight).text


@dataclass
class Likeness:
    """What a shadow was made like."""

    socket: Socket
    _declared: Conditions = field(default_factory=dict)
    _there: Conditions = field(default_factory=dict)

    async def of_servers(self, wanted: Conditions) -> None:
        """Sets the servers' states; those without a wanted state are as declared. Raises RuntimeAbsent."""
        if not self._there:
            shown = await self.socket.send("show servers state")
            self._declared = self._there = await beside_if(len(shown) > LARGE, lambda: conditions(server_states(shown)))
        for command in await beside_if(len(self._declared) > MANY, self._missing, wanted):
            await self.socket.send(command)

    def _missing(self, wanted: Conditions) -> list[str]:
        there, self._there = self._there, {name: wanted.get(name, state) for name, state in self._declared.items()}
        return list(commands(there, {**self._declared, **wanted}))

    async def forget(self) -> bool:
        """Whether all tables are empty: an entry is kept while a stream holds it. Raises RuntimeAbsent."""
        if not (tables := await self._filled()):
            return True
        for table in tables:
            await self.socket.send(f"clear table {argument(table)}")
        return not await self._filled()

    async def _filled(self) -> list[str]:
        return _USED.findall(await self.socket.send("show table"))
