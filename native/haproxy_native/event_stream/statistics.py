"""Counters of frontends, backends and servers that have changed: one look a second for all subscribers, while there are any."""

import asyncio
import logging
from collections.abc import Mapping
from typing import Any

from haproxy_native.beside import beside_if
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import RuntimeFailure
from haproxy_native.event_stream.stream import STATS, EventStream
from haproxy_native.runtime.responses import cells
from haproxy_native.runtime.statistics import HEAD

log = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
LARGE = 1 << 15
# Columns that name the row, and those that time alone changes.
_NAMES = frozenset(("pxname", "svname", "iid", "sid", "pid", "type"))
_CLOCKS = frozenset(("lastchg", "lastsess", "agent_duration", "check_duration"))
_TYPES = {"0": "frontend", "1": "backend", "2": "server"}
Counters = Mapping[str, int | str]


def counters(text: str) -> dict[str, Counters]:
    """The columns of `show stat` that are not empty, by object."""
    places, rows = cells(text)
    if "type" not in places:
        return {}
    proxy, name, type_ = (places[column] for column in ("pxname", "svname", "type"))
    shown = [(place, column) for column, place in places.items() if column not in _NAMES]
    return {
        _object(row[proxy], row[name], row[type_]): {column: _value(row[place]) for place, column in shown if row[place]}
        for row in rows
        if row[type_] in _TYPES
    }


def _object(proxy: str, name: str, type_: str) -> str:
    return spelled("backend", proxy, "server", name) if _TYPES[type_] == "server" else spelled(_TYPES[type_], proxy)


def _value(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def differences(text: str, known: Mapping[str, Counters]) -> tuple[dict[str, Counters], dict[str, Counters]]:
    """All counters, and those that are not as they were."""
    now = counters(text)
    changed: dict[str, Counters] = {}
    for object_, row in now.items():
        was = known.get(object_, {})
        if row != was and (differing := {name: value for name, value in row.items() if was.get(name) != value and name not in _CLOCKS}):
            changed[object_] = differing
    return now, changed


class StatisticsWatch:
    def __init__(self, engine: Engine, stream: EventStream) -> None:
        self._engine, self._stream = engine, stream
        self._known: dict[str, Counters] = {}

    async def run(self) -> None:
        """Until it is cancelled."""
        while True:
            await self._stream.until_wanted(STATS)
            with self._stream.recorded(STATS):
                while self._stream.is_wanted(STATS):
                    try:
                        await self._look()
                    except RuntimeFailure as error:
                        log.debug("no counters: %s", error)
                    await asyncio.sleep(LOOK_SECONDS)
            self._known = {}

    async def now(self) -> list[dict[str, Any]]:
        """All counters. Raises RuntimeFailure."""
        text = await self._engine.runtime.read("show stat", HEAD)
        return [{"object": object_, "counters": row} for object_, row in (await beside_if(len(text) > LARGE, counters, text)).items()]

    async def _look(self) -> None:
        """The first look publishes nothing."""
        text = await self._engine.runtime.read("show stat", HEAD)
        is_first = not self._known
        self._known, changed = await beside_if(len(text) > LARGE, differences, text, self._known)
        if is_first:
            return
        for place, (object_, row) in enumerate(changed.items()):
            self._stream.publish(STATS, object_, {"counters": row})
            if place % 200 == 199:
                await asyncio.sleep(0)
