"""Store the last hour of the most important counters in memory, so that a client sees the past as soon as it connects.

`StatisticsHistory` has two rings of samples. Frontends and backends are sampled every 5 seconds, servers every minute. A ring drops its
samples after an hour, and earlier if it exceeds MOST_BYTES.

A sample has one number for each object and measure. The numbers are stored column by column and compressed, since most columns are zeros or
nearly the same for all objects. Consecutive samples with the same objects share the tuple of their names.

Counters are stored as differences from the previous sample. Rates are computed from these differences. After a *break* there is no
difference, and so no rate. A break is: HAProxy did not answer, another worker is in service, or a counter has decreased, as after
`clear counters`. No rate is therefore negative, or an average over a time without samples.
"""

import time
import zlib
from array import array
from collections import deque
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.abandonment import check
from haproxy_native.editing import object_names
from haproxy_native.features.events.stream import kind_of

SECONDS = 3600.0
# The kinds of objects in each ring, and the seconds between two samples.
PROXIES, SERVERS = (frozenset(("frontend", "backend")), 5.0), (frozenset(("server",)), 60.0)
# The limit of each ring. Both rings, with the counters of their last samples, take at most 10 MiB for 5,000 servers.
MOST_BYTES = 4 << 20
# The measures that count since the start of the worker, with their columns in `show stat`. The first column that has a number is used.
COUNTED = {
    "requests": ("req_tot", "stot"),
    "errors_4xx": ("hrsp_4xx",),
    "errors_5xx": ("hrsp_5xx",),
    "connection_errors": ("econ",),
    "response_errors": ("eresp",),
}
# The measures that have a value at each moment, with their columns.
MOMENTARY = {"sessions": ("scur",), "response_time": ("rtime",), "queue": ("qcur",)}
MEASURES: Mapping[str, Sequence[str]] = {**COUNTED, **MOMENTARY}
# Stands for a missing number.
ABSENT = (1 << 32) - 1
# When the first samples are due, in seconds after the start.
FIRST_SECONDS = 5.0
# A pause of more than so many intervals is a break.
BREAK_INTERVALS = 2.5
# The size of a name in addition to its characters, and of a reference to it in a tuple, in bytes.
_NAME, _PLACE = 49, 8


@dataclass(frozen=True, slots=True)
class _Sample:
    """The numbers of all objects at one moment."""

    # Unix time.
    time: float
    # The seconds since the sample before; 0 after a break.
    seconds: float
    objects: tuple[str, ...]
    # The columns of MEASURES as compressed arrays, with differences for counters.
    values: bytes
    # The size in bytes, without the names that the sample shares with the sample before.
    size: int


class SampleRing:
    """The samples of some kinds of objects, `interval` seconds apart. `now` returns the Unix time, `clock` a monotonic time in seconds."""

    def __init__(
        self,
        kinds: frozenset[str],
        interval: float,
        *,
        now: Callable[[], float] = time.time,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.kinds, self.interval = kinds, interval
        self._now, self._clock = now, clock
        self._samples: deque[_Sample] = deque(maxlen=int(SECONDS / interval))
        self._size = 0
        # When the last sample was taken or skipped, by the clock. The first one is due FIRST_SECONDS after the start.
        self._sampled_at = clock() - interval + FIRST_SECONDS
        # The objects of the last sample, their indices, and their counters, which are empty after a break.
        self._objects: tuple[str, ...] = ()
        self._places: dict[str, int] = {}
        self._counters: list[array[int]] = []

    def is_due(self) -> bool:
        """Return whether the next sample is due now or within a tenth of the interval."""
        return self._clock() >= self._sampled_at + 0.9 * self.interval

    def restart(self) -> None:
        """Begin a break: the next sample is stored without differences from the previous sample, so that no rates are computed from it."""
        self._counters = []

    def skip(self) -> None:
        """Leave out a sample because HAProxy did not answer. Begins a break."""
        self._sampled_at = self._clock()
        self.restart()

    def add(self, rows: Iterable[tuple[str, Sequence[int | None]]], age: float = 0.0) -> None:
        """Add a sample, and drop the oldest samples that exceed the limits.

        `rows` are the objects with their numbers in the order of MEASURES. HAProxy has reported them `age` seconds ago.
        """
        objects, columns = list[str](), [array("Q") for _ in MEASURES]
        for object_, numbers in rows:
            objects.append(object_)
            for column, number in zip(columns, numbers, strict=True):
                column.append(ABSENT if number is None else number)
        taken, before = self._clock() - age, self._sampled_at
        seconds = taken - before if self._counters and taken - before <= BREAK_INTERVALS * self.interval else 0.0
        counters = columns[: len(COUNTED)]
        increases = self._counter_increases(objects, counters) if seconds else None
        if increases is None:
            seconds, increases = 0.0, [array("I", [ABSENT]) * len(objects) for _ in counters]
        momentary = [array("I", [min(value, ABSENT) for value in column]) for column in columns[len(COUNTED) :]]
        values = zlib.compress(b"".join(column.tobytes() for column in (*increases, *momentary)), 1)
        size = len(values)
        if tuple(objects) != self._objects:
            # Names that the last sample has as well are used again.
            names = {name: name for name in self._objects}
            size += sum(len(name) + _NAME for name in objects if name not in names) + _PLACE * len(objects)
            self._objects = tuple(names.get(name, name) for name in objects)
            self._places = {name: place for place, name in enumerate(self._objects)}
        self._counters, self._sampled_at = counters, taken
        if len(self._samples) == self._samples.maxlen:
            self._size -= self._samples[0].size
        self._samples.append(_Sample(self._now() - age, seconds, self._objects, values, size))
        self._size += size
        while self._size > MOST_BYTES and len(self._samples) > 1:
            self._size -= self._samples.popleft().size

    def _counter_increases(self, objects: Sequence[str], counters: Sequence["array[int]"]) -> list["array[int]"] | None:
        """Return the increase of each counter since the last sample, in columns; None if any counter has decreased."""
        places = [self._places.get(object_) for object_ in objects]
        columns = []
        for column, former in zip(counters, self._counters, strict=True):
            increases = array("I")
            for place, value in zip(places, column, strict=True):
                before = ABSENT if place is None else former[place]
                if ABSENT in (value, before):
                    increases.append(ABSENT)
                elif value < before:
                    return None
                else:
                    increases.append(min(value - before, ABSENT - 1))
            columns.append(increases)
        return columns

    def read(self, seconds: float, measures: Collection[str], is_wanted: Callable[[str], bool]) -> dict[str, Any]:
        """Return the samples of the last `seconds` as JSON: their Unix times, and the values of each wanted object, by measure.

        Counters are returned as rates per second. None stands for a missing value. Blocks.
        """
        samples = [sample for sample in list(self._samples) if sample.time >= self._now() - seconds]
        objects = dict.fromkeys(object_ for names in {id(each.objects): each.objects for each in samples}.values() for object_ in names)
        rows: dict[str, dict[str, list[float | None]]] = {object_: {} for object_ in objects if is_wanted(object_)}
        chosen = [(place, measure) for place, measure in enumerate(MEASURES) if measure in measures]
        names: tuple[str, ...] = ()
        for at, sample in enumerate(samples):
            check()
            if sample.objects is not names:
                names = sample.objects
                wanted = [(place, rows[name]) for place, name in enumerate(names) if name in rows]
            values = array("I", zlib.decompress(sample.values))
            for column, measure in chosen:
                start, divisor = column * len(names), sample.seconds if measure in COUNTED else 1.0
                for place, row in wanted:
                    value = values[start + place]
                    if value != ABSENT:
                        if (numbers := row.get(measure)) is None:
                            numbers = row[measure] = [None] * len(samples)
                        numbers[at] = round(value / divisor, 2) if measure in COUNTED else value
        return {
            "interval": self.interval,
            "times": [round(sample.time, 3) for sample in samples],
            "rows": [{"object": object_, **row} for object_, row in rows.items()],
        }


class StatisticsHistory:
    """The two rings of one engine: proxies, and servers."""

    def __init__(self) -> None:
        self.rings = (SampleRing(*PROXIES), SampleRing(*SERVERS))

    def restart(self) -> None:
        """Begin a break in all rings, because another worker is in service or HAProxy did not answer."""
        for ring in self.rings:
            ring.restart()

    def read(
        self,
        seconds: float,
        measures: Collection[str],
        kinds: Collection[str],
        pattern: str = "",
        may_read: Callable[[str], bool] | None = None,
    ) -> list[dict[str, Any]]:
        """Return the result of `SampleRing.read` for each ring that has any of these kinds. Blocks.

        Only objects of these kinds are returned, and only those that `pattern` covers and that `may_read` permits.
        """

        def is_wanted(object_: str) -> bool:
            if kind_of(object_) not in kinds or (pattern and not object_names.covers(pattern, object_)):
                return False
            return may_read is None or may_read(object_)

        return [ring.read(seconds, measures, is_wanted) for ring in self.rings if not ring.kinds.isdisjoint(kinds)]
