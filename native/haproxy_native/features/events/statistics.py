"""Publish the counters of frontends, backends and servers that have changed, while a client subscribes to them.

`StatisticsWatch` polls HAProxy once for all subscribers, and only for the kinds of objects that some subscriber wants: a thousand servers
are most of the work. Most lines of an answer differ from the previous answer only in *running* cells, which change with time alone. A line
is therefore not parsed if the texts between its running cells are unchanged (`Statistics.changed_since`).

The history of the most important counters (statistics_history.py) is always recorded, from the answers to these polls. While nobody
subscribes to counters, the history has its own polls, which are less frequent.
"""

import asyncio
import logging
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from itertools import chain, compress
from operator import ne
from typing import Any

from haproxy_native.editing.object_names import spelled
from haproxy_native.engine import Engine
from haproxy_native.errors import RuntimeAbsent, RuntimeFailure
from haproxy_native.features.events.statistics_history import MEASURES, StatisticsHistory
from haproxy_native.features.events.stream import COUNTED, STATS, EventStream
from haproxy_native.runtime.dumps import STATISTICS_HEAD
from haproxy_native.runtime.responses import row_cells
from haproxy_native.threads import run_in_thread_if, with_pauses

log = logging.getLogger(__name__)
POLL_SECONDS = 1.0
# The share of the time that HAProxy may need for its answers. If they take longer, the pauses between polls grow, up to LONGEST_SECONDS.
SHARE, LONGEST_SECONDS = 0.04, 5.0
# Answers with more characters are parsed in a thread, or with pauses.
LARGE = 1 << 15
# While nobody subscribes to counters, the history is sampled whenever the clock of the event loop reaches a multiple of so many seconds.
TICK = 5.0
# How many lines are compared without a pause. This takes about a millisecond.
LINES = 100
# The columns that name the row, those that are never reported, and those that change with time alone.
_NAMES = frozenset(("pxname", "svname", "iid", "sid", "pid", "type"))
_CLOCKS = frozenset(("lastchg", "lastsess", "agent_duration", "check_duration"))
_RUNNING = _CLOCKS | {"downtime"}
# The kinds of objects, by the value in the column `type`.
_TYPES = {"0": "frontend", "1": "backend", "2": "server"}
# The argument of `show stat` for each kind.
_BITS = {"frontend": 1, "backend": 2, "server": 4}
Counters = Mapping[str, int | str]
Cells = Sequence[str]
# An object, and its number for each measure.
Numbers = tuple[str, list[int | None]]
# The cells of a row that name it: proxy, name and type.
Key = tuple[str, str, str]


class Statistics:
    """An answer to `show stat`. A comparison parses only the lines that may differ."""

    def __init__(self, text: str = "") -> None:
        head, *lines = text.rstrip("\n").split("\n")
        columns = head.removeprefix("# ").split(",")
        # The header ends with a comma.
        self.columns: Cells = (columns if columns[-1] else columns[:-1]) if "type" in columns else ()
        self._lines = lines if self.columns else []
        # The indices of the columns of a key.
        self._key_places = [self.columns.index(column) for column in ("pxname", "svname", "type")] if self.columns else []
        # For each line that `changed_since` has compared, either the texts between its running cells or its cells; the other one is empty.
        self._texts: list[Cells] = []
        self._cells: list[Cells] = []

    def __len__(self) -> int:
        return len(self._lines)

    def counters(self, *, zeros: bool = True) -> dict[str, Counters]:
        """Return the counters of each object, without empty columns. With `zeros=False`, columns that are 0 are left out as well."""
        omitted = ("",) if zeros else ("", "0")
        named = [(place, column) for place, column in enumerate(self.columns) if column not in _NAMES]
        return {
            _object(*key): {column: _value(cell) for place, column in named if (cell := row[place]) not in omitted}
            for row in map(row_cells, self._lines)
            if (key := self._key(row))
        }

    def numbers(self, kinds: Collection[str], measures: Sequence[Sequence[str]]) -> Iterator[list[Numbers]]:
        """Yield the objects of these kinds with their number for each measure, for LINES lines at a time.

        A measure is a sequence of columns. Its number is the first number in these columns; None if none of them has a number.
        """
        at = {column: place for place, column in enumerate(self.columns)}
        places = [[at[column] for column in columns if column in at] for columns in measures]
        for first in range(0, len(self), LINES):
            yield [
                (_object(*key), [next((int(cells[place]) for place in each if cells[place].isdecimal()), None) for each in places])
                for cells in map(row_cells, self._lines[first : first + LINES])
                if (key := self._key(cells)) and _TYPES[key[2]] in kinds
            ]

    def changed_since(self, before: "Statistics") -> Iterator[dict[str, Counters]]:
        """Yield, by object, the counters that differ from the counters in `before`, for LINES lines at a time.

        An object is left out if only its running cells differ.
        """
        if self.columns != before.columns:
            before = Statistics()
        running = [place for place, column in enumerate(self.columns) if column in _RUNNING]
        for first in range(0, len(self), LINES):
            changed: dict[str, Counters] = {}
            for place, line in enumerate(self._lines[first : first + LINES], first):
                texts: Cells = before._texts[place] if place < len(before._texts) else ()
                cells: Cells = ()
                if not (texts and _matches(line, texts)):
                    texts, cells, values = (), row_cells(line), dict[str, int | str]()
                    if key := self._key(cells):
                        former = before._row(key, place)
                        columns = compress(self._reported, map(ne, cells, former)) if former else self._reported
                        values = {column: _value(cells[at]) for at, column in columns if column and cells[at]}
                    if key and values.keys() - _RUNNING:
                        changed[_object(*key)] = values
                    elif '"' not in line:
                        texts, cells = _texts_between(cells, running), ()
                self._texts.append(texts)
                self._cells.append(cells)
            yield changed

    @cached_property
    def _reported(self) -> Sequence[tuple[int, str]]:
        """Return the index and the name of each column. The name is empty if the column is never reported."""
        return [(place, "" if column in _NAMES | _CLOCKS else column) for place, column in enumerate(self.columns)]

    def _row(self, key: Key, place: int) -> Cells | None:
        """Return the cells of the row with this key; None if there is no such row. The row usually has the index `place`."""
        return self._row_at(key, place) or self._row_at(key, self._places_of_names.get(key[:2], len(self)))

    def _row_at(self, key: Key, place: int) -> Cells | None:
        """Return the cells of the row at an index if it has this key; otherwise None."""
        if place >= len(self):
            return None
        cells = (self._cells and self._cells[place]) or row_cells(self._lines[place])
        return cells if self._key(cells) == key else None

    @cached_property
    def _places_of_names(self) -> Mapping[tuple[str, ...], int]:
        """Return the indices of the rows by their first two cells, proxy and name.

        A server named BACKEND has the same names as the row of its backend, so one of the two rows is not found. The counters of that row
        are then reported although they are unchanged.
        """
        return {tuple(line.split(",", 2)[:2]): place for place, line in enumerate(self._lines)}

    def _key(self, cells: Cells) -> Key | None:
        """Return the key of a row; None if the row is incomplete, or of another kind such as a listener."""
        if len(cells) < len(self.columns):
            return None
        proxy, name, type_ = (cells[place] for place in self._key_places)
        return (proxy, name, type_) if type_ in _TYPES else None


def _texts_between(cells: Cells, places: Sequence[int]) -> Cells:
    """Return the texts of a line between the cells at these indices."""
    others = list(cells)
    # No cell contains a line end, so it can stand for the cells to leave out.
    for place in places:
        others[place] = "\n"
    return ",".join(others).split("\n")


def _matches(line: str, texts: Cells) -> bool:
    """Return whether a line has exactly these texts between its running cells."""
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


class StatisticsWatch:
    """Watches the counters of one engine. `history` has the last hour of the most important counters."""

    def __init__(self, engine: Engine, stream: EventStream) -> None:
        self._engine, self._stream = engine, stream
        self._known = Statistics()
        self.history = StatisticsHistory()

    async def run(self) -> None:
        """Publish counters while they are wanted, and record their history, until cancelled."""
        while True:
            await self._record_until_wanted()
            kinds = self._stream.wanted_counters()
            with self._stream.recorded(STATS):
                # If a subscriber wants another kind, a new recording begins, because a recording has the same kinds from start to end.
                while self._stream.is_wanted(STATS) and (wanted_kinds := self._stream.wanted_counters()) <= kinds:
                    began = time.monotonic()
                    try:
                        text = await self._read(wanted_kinds or kinds)
                        # The comparison is not measured, because other tasks run in between.
                        pause = min(max(POLL_SECONDS, (time.monotonic() - began) / SHARE), LONGEST_SECONDS)
                        await self._publish_changes(Statistics(text))
                        await self._record(wanted_kinds or kinds, text)
                    except RuntimeFailure as error:
                        log.debug("no counters: %s", error)
                        pause = POLL_SECONDS
                        self.history.restart()
                    await asyncio.sleep(pause)
            self._known = Statistics()

    async def _record_until_wanted(self) -> None:
        """Record the history until somebody subscribes to counters.

        Samples are taken at multiples of TICK, together with other periodic tasks, so that the processor wakes up less often.
        """
        while not self._stream.is_wanted(STATS):
            now = asyncio.get_running_loop().time()
            with suppress(TimeoutError):
                async with asyncio.timeout((now // TICK + 1) * TICK - now):
                    await self._stream.until_wanted(STATS)
                return
            await self._record()

    async def _record(self, kinds: Collection[str] = (), text: str = "") -> None:
        """Add the samples that are due to the history.

        `text` is an answer of HAProxy with objects of these `kinds`. A sample of other kinds is taken from a new answer.
        """
        for ring in self.history.rings:
            if not ring.is_due():
                continue
            try:
                if ring.kinds <= set(kinds):
                    answer = text
                elif self._engine.runtime.is_known_absent:
                    raise RuntimeAbsent("HAProxy does not run")
                else:
                    answer = await self._read(ring.kinds)
                read = time.monotonic()
                pieces = Statistics(answer).numbers(ring.kinds, list(MEASURES.values()))
                # Each pause costs a wake-up, so few lines are parsed without pauses.
                if len(answer) > LARGE:
                    rows = [row async for piece in with_pauses(pieces) for row in piece]
                else:
                    rows = list(chain.from_iterable(pieces))
            except RuntimeFailure as error:
                log.debug("no counters: %s", error)
                ring.skip()
            else:
                ring.add(rows, time.monotonic() - read)

    async def read_counters(self, kinds: Collection[str] = COUNTED, *, zeros: bool = True) -> list[dict[str, Any]]:
        """Read the counters of all objects of these kinds. With `zeros=False`, counters that are 0 are left out. Raises RuntimeFailure."""
        text = await self._read(kinds)
        counters = await run_in_thread_if(len(text) > LARGE, lambda: Statistics(text).counters(zeros=zeros))
        return [{"object": object_, "counters": row} for object_, row in counters.items()]

    async def _read(self, kinds: Collection[str]) -> str:
        """Return HAProxy's answer to `show stat` for these kinds of objects. Raises RuntimeFailure."""
        return await self._engine.runtime.read_dump(f"show stat -1 {sum(_BITS[kind] for kind in kinds)} -1", STATISTICS_HEAD)

    async def _publish_changes(self, statistics: Statistics) -> None:
        """Publish the counters that have changed since the last poll. Publish nothing after the first poll."""
        if self._known:
            async for changed in with_pauses(statistics.changed_since(self._known)):
                for object_, row in changed.items():
                    self._stream.publish(STATS, object_, {"counters": row})
        self._known = statistics
