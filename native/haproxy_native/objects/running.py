"""The running HAProxy as values: its servers, and its stick tables with their entries.

Every call queries the process through the Runtime API, and raises RuntimeAbsent if no socket answers, RuntimeRefused if HAProxy refuses.
"""

from collections.abc import Sequence
from functools import cache
from typing import TYPE_CHECKING

from haproxy_native.errors import BadValue, NotFound
from haproxy_native.grammar.load import grammar
from haproxy_native.models import model
from haproxy_native.runtime import stick_tables
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.server_state import ServerState
from haproxy_native.runtime.stick_tables import HEAD, Table

if TYPE_CHECKING:
    from haproxy_native.models.stick_table_entry import StickTableEntry

ENTRY = "stick_table_entry"


class StickTable:
    """A stick table, by the name of the section that declares it, or `peers/table`."""

    def __init__(self, runtime: Runtime, name: str) -> None:
        self._runtime, self.name = runtime, name

    async def about(self) -> Table:
        """Return its type, its size and how many entries are used. Raises NotFound if HAProxy has no such table."""
        table_ = next((table for table in await _tables(self._runtime) if table.name == self.name), None)
        if table_ is None:
            raise NotFound(f"there is no stick table {self.name} in the running HAProxy")
        return table_

    async def entries(self, key: str | None = None) -> "list[StickTableEntry]":
        """Return all entries, or that of a key. `exp` is in milliseconds; rates are per the table's period. Raises BadValue."""
        wanted = f" key {argument(await self._stored_key(key))}" if key is not None else ""
        shown = await self._runtime.read_dump(f"show table {argument(self.name)}{wanted}", HEAD)
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


class Running:
    """The worker in service. `client` sends any other command."""

    def __init__(self, client: Runtime) -> None:
        self.client, self.stick_tables = client, StickTables(client)

    async def servers(self, backend: str) -> Sequence[ServerState]:
        """Return the servers of a backend in the worker's order. Raises RuntimeRefused if the worker does not have the backend."""
        return await self.client.servers(backend)


async def _tables(runtime: Runtime) -> Sequence[Table]:
    return list(stick_tables.parse_tables(await runtime.read_dump("show table", HEAD)))


@cache
def _data() -> frozenset[str]:
    """Return the names of the data of entries."""
    properties = grammar().schemas.properties(grammar().schemas.named(ENTRY))
    return frozenset(name for name, property_ in properties.items() if property_.get("type") == "integer") - {"exp"}
