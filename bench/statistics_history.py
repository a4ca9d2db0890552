"""Measure the memory of an hour of counters, with 5,000 busy servers in 500 backends that sometimes fail and queue."""

import random
import tracemalloc
from collections.abc import Iterator

from haproxy_native.editing.object_names import spelled
from haproxy_native.features.events.statistics_history import COUNTED, SECONDS, StatisticsHistory

ROW = "memory of an hour of counters, 5,000 servers"
SERVERS, BACKENDS = 5_000, 500
# The greatest increase in a second of the counters, and the greatest sessions, response time and queue.
INCREASES, MOMENTARY = (200, 5, 1, 1, 1), (100, 300, 3)


class Busy:
    """Objects whose counters increase at random."""

    def __init__(self, objects: list[str]) -> None:
        self._objects, self._counters = objects, [[0] * len(COUNTED) for _ in objects]

    def rows(self, seconds: float) -> Iterator[tuple[str, list[int | None]]]:
        for object_, counters in zip(self._objects, self._counters, strict=True):
            for place, most in enumerate(INCREASES):
                counters[place] += int(random.random() * most * seconds)
            # A new string, as in each answer of HAProxy.
            yield object_[:1] + object_[1:], [*counters, *(int(random.random() * most) for most in MOMENTARY)]


def of_statistics_history(servers: int = SERVERS, backends: int = BACKENDS) -> dict[str, float]:
    """Return MiB. Raises AssertionError if less than an hour is kept."""
    random.seed(1)
    proxies = Busy([spelled("backend", f"farm{number}") for number in range(backends)])
    members = Busy([spelled("backend", f"farm{number % backends}", "server", f"node{number}") for number in range(servers)])
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        history, kept = StatisticsHistory(), []
        for ring, busy in zip(history.rings, (proxies, members), strict=True):
            for _ in range(int(SECONDS / ring.interval)):
                ring.add(busy.rows(ring.interval), age=0.0)
            kept.append(len(ring.read(SECONDS, (), lambda _: False)["times"]))
        now, _ = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert kept == [SECONDS / ring.interval for ring in history.rings], kept
    return {ROW: (now - before) / (1 << 20)}
