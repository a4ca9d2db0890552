"""Entries of stick tables. Rates pass by themselves: they are put back, and not compared."""

from haproxy_native.commit.shown import Shown
from haproxy_native.editing.object_names import parsed
from haproxy_native.errors import Conflict
from haproxy_native.process_objects.object_kind import ObjectKind
from haproxy_native.runtime import stick_tables
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.stick_tables import HEAD


class StickTableEntries(ObjectKind):
    async def look(self, object_: str, given: bytes | None = None) -> Shown:
        shown = await self.runtime.read(f"show table {_place(object_)}", HEAD)
        return Shown(stick_tables.data(shown))

    def stays(self, member: str) -> bool:
        return "_rate" not in member

    async def make(self, object_: str, now: Shown, wanted: Shown) -> None:
        if wanted.members is None:
            await self.runtime.ask(f"clear table {_place(object_)}")
            return
        if now.members is None:
            raise Conflict("its other data are gone with it")
        data = {name: value for name, value in wanted.members.items() if now.members.get(name) != value}
        await self.runtime.ask(" ".join([f"set table {_place(object_)}", *(f"data.{name} {value}" for name, value in data.items())]))


def _place(object_: str) -> str:
    _, table, _, key = parsed(object_)
    return f"{argument(table)} key {argument(key)}"
