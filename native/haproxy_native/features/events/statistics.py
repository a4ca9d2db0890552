"""Counters of frontends, backends and servers that have changed: one look a second for all subscribers, while there are any.

HAProxy is asked for the kinds of objects alone that a subscriber wants: a thousand servers are most of the work.
"""

import asyncio
import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from itertools import compress
from operator import ne
from typing import Any

from haproxy_native.beside import beside_if, unhurried
from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import RuntimeFailure
from haproxy_native.features.events.stream import COUNTED, STATS, EventStream
from haproxy_native.runtime.dumps import STATISTICS_HEAD
from haproxy_native.runtime.responses import row_cells

log = logging.getLogger(__name__)
LOOK_SECONDS = 1.0
# The most that HAProxy's answers take of the time: where one of thousands of rows takes longer they are further apart, up to
# LONGEST_SECONDS.
SHARE, LONGEST_SECONDS = 0.04, 5.0
LARGE = 1 << 15
# Lines that take about a millisecond.
LINES = 100
# Columns that name the row, those that are never reported, and those that time alone changes in a row where nothing happens.
_NAMES = frozenset(("pxname", "svname", "iid", "sid", "pid", "type"))
_CLOCKS = frozenset(("lastchg", "lastsess", "agent_duration", "check_duration"))
_RUNNING = _CLOCKS | {"downtime"}
_TYPES = {"0": "frontend", "1": "backend", "2": "server"}
# Of `show stat`.
_BITS = {"frontend": 1, "backend": 2, "server": 4}
Counters = Mapping[str, int | str]
Cells = Sequence[str]
# Proxy, name and type.
Key = tuple[str, str, str]


class Looked:
    """An answer to `show stat`. Most of thousands of lines are as they were before, but for clocks, and are not taken apart."""

    def __init__(self, text: str = "") -> None:
        head, *lines = text.rstrip("\n").split("\n")
        columns = head.removeprefix("# ").split(",")
        # Behind the last comma is no column.
        self.columns: Cells = (columns if columns[-1] else columns[:-1]) if "type" in columns else ()
        self._lines = lines if self.columns else []
        # Of each line, once it was compared: the texts between its running cells where it was as before, else its cells.
        self._texts: list[Cells] = []
        self._cells: list[Cells] = []

    def __len__(self) -> int:
        return len(self._lines)

    def counters(self, *, zeros: bool = True) -> dict[str, Counters]:
        """The columns that are not empty, by object; with `zeros` those that are 0, too."""
        unsaid = ("",) if zeros else ("", "0")
        named = [(place, column) for place, column in enumerate(self.columns) if column not in _NAMES]
        return {
            _object(*key): {column: _value(cell) for place, column in named if (cell := row[place]) not in unsaid}
            for row in map(row_cells, self._lines)
            if (key := self._key(row))
        }

    def since(self, before: "Looked") -> Iterator[dict[str, Counters]]:
        """Yields the counters that are not as they were, of so many lines at a time."""
        if self.columns != before.columns:
            before = Looked()
        running = [place for place, column in enumerate(self.columns) if column in _RUNNING]
        for first in range(0, len(self), LINES):
            changed: dict[str, Counters] = {}
            for place, line in enumerate(self._lines[first : first + LINES], first):
                texts: Cells = before._texts[place] if place < len(before._texts) else ()
                cells: Cells = ()
                if not (texts and _has(line, texts)):
                    texts, cells = (), row_cells(line)
                    if (key := self._key(cells)) and (values := self._differing(cells, before._row(key, place))):
                        changed[_object(*key)] = values
                    elif '"' not in line:
                        texts, cells = _between(cells, running), ()
                self._texts.append(texts)
                self._cells.append(cells)
            yield changed

    def _differing(self, cells: Cells, former: Cells | None) -> Counters:
        """Empty where nothing but running cells differs."""
        places = compress(self._reported, map(ne, cells, former)) if former else self._reported
        values = {column: _value(cells[place]) for place, column in places if column and cells[place]}
        return values if values.keys() - _RUNNING else {}

    @cached_property
    def _reported(self) -> Sequence[tuple[int, str]]:
        """Each place, and its column where that is reported."""
        return [(place, "" if column in _NAMES | _CLOCKS else column) for place, column in enumerate(self.columns)]

    def _row(self, key: Key, place: int) -> Cells | None:
        """The cells of a row: at that place, unless rows have come or gone."""
        return self._row_at(key, place) or self._row_at(key, self._places_of_names.get(key[:2], len(self)))

    def _row_at(self, key: Key, place: int) -> Cells | None:
        if place >= len(self):
            return None
        cells = (self._cells and self._cells[place]) or row_cells(self._lines[place])
        return cells if self._key(cells) == key else None

    @cached_property
    def _places_of_names(self) -> Mapping[tuple[str, ...], int]:
        """By proxy and name, which are the first two cells. A server may not call itself BACKEND, or its counters are told again."""
        return {tuple(line.split(",", 2)[:2]): place for place, line in enumerate(self._lines)}

    def _key(self, cells: Cells) -> Key | None:
        """None for a row that is incomplete or of another kind."""
        if len(cells) < len(self.columns):
            return None
        proxy, name, type_ = (cells[place] for place in self._places)
        return (proxy, name, type_) if type_ in _TYPES else None

    @cached_property
    def _places(self) -> Sequence[int]:
        return [self.columns.index(column) for column in ("pxname", "svname", "type")]


def _between(cells: Cells, places: Sequence[int]) -> Cells:
    """The texts of a line between the cells at these places: no cell has a line end."""
    others = list(cells)
    for place in places:
        others[place] = "\n"
    return ",".join(others).split("\n")


def _has(line: str, texts: Cells) -> bool:
    """Whether a line has these texts between its running cells."""
    at = 0
    for text in texts[:-1]:
        if not line.startswith(text, at):
            return False
        at = line.find(",", at + len(text))
    return line[at:] == texts[-1]


def _object(proxy: str, name: str, type_: str) -> str:
    return spelled("backend", proxy, "server", name) if _TYPES[type_] == "server" else spelled(_TYPES[type_], proxy)


def _value(text: str) -> int | str:
    return int(text) if text.isdecimal() else text


def _pause(seconds: float) -> float:
    """Until the next look, where one takes so long."""
    return min(max(LOOK_SECONDS, seconds / SHARE), LONGEST_SECONDS)


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
                    began = time.monotonic()
                    try:
                        text = await self._read(now or kinds)
                        # What is done with the answer takes a small part of the time by itself.
                        pause = _pause(time.monotonic() - began)
                        await self._compare(Looked(text))
                    except RuntimeFailure as error:
                        log.debug("no counters: %s", error)
                        pause = LOOK_SECONDS
                    await asyncio.sleep(pause)
            self._known = Looked()

    async def now(self, kinds: Collection[str] = COUNTED, *, zeros: bool = True) -> list[dict[str, Any]]:
        """The counters of all objects of these kinds; with `zeros` those that are 0, too. Raises RuntimeFailure."""
        text = await self._read(kinds)
        counters = await beside_if(len(text) > LARGE, lambda: Looked(text).counters(zeros=zeros))
        return [{"object": object_, "counters": row} for object_, row in counters.items()]

    async def _read(self, kinds: Collection[str]) -> str:
        return await self._engine.runtime.read_dump(f"show stat -1 {sum(_BITS[kind] for kind in kinds)} -1", STATISTICS_HEAD)

    async def _compare(self, now: Looked) -> None:
        """Publish what has changed since the last look; nothing at the first one."""
        if self._known:
            async for changed in unhurried(now.since(self._known)):
                for object_, row in changed.items():
                    self._stream.publish(STATS, object_, {"counters": row})
        self._known = now
