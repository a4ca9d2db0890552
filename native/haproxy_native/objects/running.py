"""The running HAProxy: its servers, and its stick tables with their entries. Changes made here last until HAProxy's next reload.

Every call queries the process through the Runtime API. Calls raise RuntimeAbsent if no socket answers, and RuntimeRefused if HAProxy
refuses the command.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING, Literal

from haproxy_native.commit.change import MemberChange, Outcome
from haproxy_native.commit.commit import change_process
from haproxy_native.commit.servers_in_process import ADDRESS, HEALTH, PORT, STATE, WEIGHT, change_server, state_of
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import BadValue, NotFound
from haproxy_native.grammar.load import grammar
from haproxy_native.models import model
from haproxy_native.planning.touches import changed
from haproxy_native.request_context import NOBODY, Author
from haproxy_native.runtime import stick_tables
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.runtime.stick_tables import HEAD, Table

if TYPE_CHECKING:
    from haproxy_native.models.stick_table_entry import StickTableEntry

ENTRY = "stick_table_entry"


class StickTable:
    """A stick table. Its name is that of the section that declares it, or `PEERS/TABLE` for a table in a peers section."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime, self.name = runtime, name

    async def about(self) -> Table:
        """Return the table's type, its size and how many entries are used. Raises NotFound if HAProxy has no such table."""
        table_ = next((table for table in await _tables(self._runtime) if table.name == self.name), None)
        if table_ is None:
            raise NotFound(f"there is no stick table {self.name} in the running HAProxy")
        return table_

    async def entries(self, key: str | None = None) -> "list[StickTableEntry]":
        """Return all entries, or only the entry of `key`. `exp` is in milliseconds; rates are per period of the table. Raises BadValue."""
        only_key = f" key {argument(await self._stored_key(key))}" if key is not None else ""
        shown = await self._runtime.read_dump(f"show table {argument(self.name)}{only_key}", HEAD)
        return [model(ENTRY).model_construct(**entry) for entry in stick_tables.parse_entries(shown, _data())]  # type: ignore[misc]

    async def set(self, key: str, **data: int) -> None:
        """Set data of a key, such as `gpc0=1`, and create the entry if it is missing. Raises BadValue and NotFound."""
        key = await self._stored_key(key)
        for name, value in data.items():
            if name not in _data():
                raise BadValue(f"an entry has no {name}; it may have {', '.join(sorted(_data()))}")
            stick_tables.check_datum(name, value)
        words = [f"data.{name} {value}" for name, value in data.items()]
        await self._runtime.execute(" ".join([f"set table {argument(self.name)} key {argument(key)}", *words]))

    async def clear(self, key: str) -> None:
        """Delete the entry of a key, if there is one."""
        key = await self._stored_key(key)
        await self._runtime.execute(f"clear table {argument(self.name)} key {argument(key)}")

    async def _stored_key(self, key: str) -> str:
        """Return the key as the table stores it. Raises BadValue and NotFound."""
        return stick_tables.stored_key((await self.about()).type, key)


class StickTables:
    """The stick tables by name, such as `tables["www"]`."""

    def __init__(self, runtime: Runtime) -> None:
        self._runtime = runtime

    def __getitem__(self, name: str) -> StickTable:
        return StickTable(self._runtime, name)

    async def all(self) -> Sequence[Table]:
        """Return every table with its type, size and use."""
        return await _tables(self._runtime)


class Server:
    """A server of a backend in the running process. Changes do not affect the server's line in the file."""

    def __init__(self, engine: Engine, backend: str, name: str) -> None:
        self._engine, self.backend, self.name = engine, backend, name

    def __repr__(self) -> str:
        return f"<Server {self.backend}/{self.name}>"

    async def state(self) -> ServerState:
        """Return the server's state in the process. Raises NotFound."""
        if state := await state_of(self._engine.runtime, self._object):
            return state
        raise NotFound(f"there is no server {self.name} of a backend {self.backend} in the running HAProxy")

    async def drain(self, *, author: Author = NOBODY) -> Outcome:
        """Drain the server: it gets no new clients, except by a cookie or a stick table. Raises NotFound and Forbidden."""
        return await self.set(admin_state="drain", author=author)

    async def maintain(self, *, author: Author = NOBODY) -> Outcome:
        """Put the server into maintenance: it gets no traffic and no health checks. Raises NotFound and Forbidden."""
        return await self.set(admin_state="maint", author=author)

    async def ready(self, *, author: Author = NOBODY) -> Outcome:
        """Make the server ready again after `drain` or `maintain`. Raises NotFound and Forbidden."""
        return await self.set(admin_state="ready", author=author)

    async def set(
        self,
        *,
        weight: int | None = None,
        admin_state: Literal["ready", "drain", "maint"] | None = None,
        address: str | None = None,
        port: int | None = None,
        operational_state: Literal["up", "stopping", "down"] | None = None,
        author: Author = NOBODY,
    ) -> Outcome:
        """Set the values that are not None, all or none of them. Weights are 0 to 256. Raises NotFound, BadValue and Forbidden."""
        given = {WEIGHT: weight, STATE: admin_state, ADDRESS: address, PORT: port, HEALTH: operational_state}
        values = {member: value for member, value in given.items() if value is not None}

        async def apply() -> list[MemberChange]:
            return (await change_server(context, context.runtime, await self.state(), values, author))[1]

        context = self._engine.context
        return await change_process(context, self._object, apply, [changed(self._object, values)], author=author)

    @property
    def _object(self) -> str:
        return spelled("backend", self.backend, "server", self.name)


class Running:
    """The worker in service. `engine.runtime` sends any other command."""

    stick_tables: StickTables

    def __init__(self, engine: Engine) -> None:
        self._engine, self.stick_tables = engine, StickTables(engine.runtime)

    def server(self, backend: str, name: str) -> Server:
        """Return the object for a server. Does not check that the server exists."""
        return Server(self._engine, backend, name)

    async def servers(self, backend: str) -> Sequence[ServerState]:
        """Return the servers of a backend in the worker's order. Raises RuntimeRefused if the worker does not have the backend."""
        return await self._engine.runtime.servers(backend)


async def _tables(runtime: Runtime) -> Sequence[Table]:
    return list(stick_tables.parse_tables(await runtime.read_dump("show table", HEAD)))


@cache
def _data() -> frozenset[str]:
    """Return the names of the data that entries may have, such as `gpc0`."""
    properties = grammar().schemas.properties(grammar().schemas.named(ENTRY))
    return frozenset(name for name, property_ in properties.items() if property_.get("type") == "integer") - {"exp"}
