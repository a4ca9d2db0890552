"""Counters of frontends, backends and servers that have changed: one look a second for all subscribers, while there are any.

HAProxy is asked for the kinds of objects alone that a subscriber wants: a thousand servers are most of the work.
"""

import asyncio
import logging
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from haproxy_native.beside import beside_if
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import RuntimeFailure
from haproxy_native.event_stream.stream import COUNTED, STATS, EventStream
from haproxy_native.runtime.responses import cells
from haproxy_native.runtime.statistics import HEAD

log = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
LARGE = 1 << 15
# Columns that name the row, and those that time alone changes.
_NAMES = frozenset(("pxname", "svname", "iid", "sid", "pid", "type"))
_CLOCKS = frozenset(("lastchg", "lastsess", "agent_duration", "check_duration"))
_TYPES = {"0": "frontend", "1": "backend", "2": "server"}
# Of `show stat`.
_BITS = {"frontend": 1, "backend": 2, "server": 4}
Counters = Mapping[str, int | str]


@dataclass(frozen=True)
class Looked:
    """An answer to `show stat` as it is: the columns, and the cells of each row by proxy, name and type."""

    columns: Sequence[str] = ()
    rows: Mapping[tuple[str, str, str], Sequence[str]] = field(default_factory=dict)

    @classmethod
    def at(cls, text: str) -> "Looked":
        places, rows = cells(text)
        if "type" not in places:
            return cls()
        proxy, name, type_ = (places[column] for column in ("pxname", "svname", "type"))
        return cls(tuple(places), {(row[proxy], row[name], row[type_]): row for row in rows if row[type_] in _TYPES})

    @property
    def counters(self) -> dict[str, Counters]:
        """The columns that are not empty, by object."""
        shown = [(place, column) for place, column in enumerate(self.columns) if column not in _NAMES]
        return {_object(*key): {column: _value(row[place]) for place, column in shown if row[place]} for key, row in self.rows.items()}

    def since(self, before: "Looked") -> dict[str, Counters]:
        """The counters that are not as they were. Rows are compared as texts first: most of thousands have not changed."""
        clocks = [place for place, column in enumerate(self.columns) if column in _CLOCKS]
        shown = [(place, column) for place, column in enumerate(self.columns) if column not in _NAMES | _CLOCKS]
        is_same = self.columns == before.columns
        changed: dict[str, Counters] = {}
        for key, row in self.rows.items():
            was = before.rows.get(key) if is_same else None
            if was and (was == row or _still(was, clocks) == _still(row, clocks)):
                continue
            if differing := {name: _value(row[place]) for place, name in shown if row[place] and (not was or was[place] != row[place])}:
                changed[_object(*key)] = differing
        return changed


def _still(row: Sequence[str], clocks: Sequence[int]) -> list[str]:
    """The cells without those of clocks."""
    cells = list(row)
    for place in clocks:
        cells[place] = ""
    return cells


def _object(proxy: str, name: str, type_: str) -> str:
    return spelled("backend", proxy, "server", name) if _TYPES[type_] == "server" else spelled(_TYPES[type_], proxy)


def _value(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def differences(text: str, known: Looked) -> tuple[Looked, dict[str, Counters]]:
    """An answer, and what in it is not as it was."""
    now = Looked.at(text)
    return now, now.since(known)


class StatisticsWatch:
    def __init__(self, engine: Engine, stream: EventStream) -> None:
        self._engine, self._stream = engine, stream
        self._known = Looked()

    async def run(self) -> None:
        """Looks once a second until it is cancelled."""
        while True:
            await self._stream.until_wanted(STATS)
            kinds = self._stream.counted()
            with self._stream.recorded(STATS):
                # What is recorded has all kinds since its beginning: another kind begins it anew.
                while self._stream.is_wanted(STATS) and (now := self._stream.counted()) <= kinds:
                    try:
                        await self._look(now or kinds)
                    except RuntimeFailure as error:
                        log.debug("no counters: %s", error)
                    await asyncio.sleep(LOOK_SECONDS)
            self._known = Looked()

    async def now(self, kinds: Collection[str] = COUNTED) -> list[dict[str, Any]]:
        """The counters of all objects of these kinds. Raises RuntimeFailure."""
        text = await self._read(kinds)
        counters = await beside_if(len(text) > LARGE, lambda: Looked.at(text).counters)
        return [{"object": object_, "counters": row} for object_, row in counters.items()]

    async def _read(self, kinds: Collection[str]) -> str:
        return await self._engine.runtime.read(f"show stat -1 {sum(_BITS[kind] for kind in kinds)} -1", HEAD)

    async def _look(self, kinds: Collection[str]) -> None:
        """The first look publishes nothing."""
        text = await self._read(kinds)
        is_first = not self._known.rows
        self._known, changed = await beside_if(len(text) > LARGE, differences, text, self._known)
        if is_first:
            return
        for place, (object_, row) in enumerate(changed.items()):
            self._stream.publish(STATS, object_, {"counters": row})
            if place % 200 == 199:
                await asyncio.sleep(0)
