"""`Traffic`: what frontends and backends have answered, counted over reloads, in every worker."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Mapping
from contextlib import suppress
from dataclasses import dataclass, field

from haproxy_native.beside import beside
from haproxy_native.confirmations.guard import Count
from haproxy_native.errors import RuntimeFailure
from haproxy_native.runtime.responses import cells

LOOK_SECONDS = 1.0
# What a change is compared with.
BEFORE_SECONDS = 60.0
# Processes that were not heard at last and are remembered by themselves.
MOST_GONE = 16
FRONTENDS, BACKENDS = "frontends", "backends"
_KINDS = {"FRONTEND": FRONTENDS, "BACKEND": BACKENDS}
_FAILURES = ("econ", "eresp")
# By kind and name.
Counts = Mapping[tuple[str, str], Count]
# The answers of the worker in service and then of the others to `show stat`, each by the name of its process.
Ask = Callable[[], Awaitable[Mapping[str, str]]]


@dataclass(frozen=True)
class Look:
    """`counts` never fall. `ready`: servers of each backend of the worker in service. `time` is monotonic."""

    time: float
    counts: Counts = field(default_factory=dict)
    ready: Mapping[str, int] = field(default_factory=dict)

    def of(self, sections: Collection[str]) -> dict[str, Count]:
        """The sums of those frontends and backends that there are."""
        counts = dict[str, Count]()
        for (kind, name), count in self.counts.items():
            if name in sections:
                counts[kind] = counts.get(kind, Count()) + count
        return counts


class Traffic:
    """`looks` holds those of the last minute and one before. A process that was running at the first look is counted from its beginning."""

    def __init__(self, ask: Ask) -> None:
        self._ask = ask
        # What each has counted at last; one that is not heard for a while may be heard again.
        self._processes: dict[str, Counts] = {}
        # Of processes that are long gone, and what others had counted when their counters were cleared.
        self._former: dict[tuple[str, str], Count] = {}
        self.looks: deque[Look] = deque([Look(float("-inf"))])
        self._looking = asyncio.Lock()

    async def look_on(self) -> None:
        """Watches until it is cancelled."""
        while True:
            with suppress(RuntimeFailure):
                await self.look()
            await asyncio.sleep(LOOK_SECONDS)

    async def look(self) -> Look:
        """Raises RuntimeFailure."""
        async with self._looking:
            answers = await self._ask()
            read = {name: await beside(_read, text) for name, text in answers.items()}
            for name, (now, _) in read.items():
                former = self._processes.pop(name, {})
                self._keep({key: count for key, count in former.items() if now.get(key, Count()).requests < count.requests})
                self._processes[name] = now
            for name in [each for each in self._processes if each not in read][:-MOST_GONE]:
                self._keep(self._processes.pop(name))
            look = Look(time.monotonic(), self._sum(), next(iter(read.values()))[1])
            self.looks.append(look)
            while self.looks[1].time <= look.time - BEFORE_SECONDS:
                self.looks.popleft()
            return look

    def _keep(self, lost: Counts) -> None:
        for key, count in lost.items():
            self._former[key] = self._former.get(key, Count()) + count

    def _sum(self) -> Counts:
        total = dict(self._former)
        for counts in self._processes.values():
            for key, count in counts.items():
                total[key] = total.get(key, Count()) + count
        return total


def between(start: Look, end: Look, sections: Collection[str]) -> dict[str, Count]:
    """What these sections have answered from one look to another."""
    former = start.of(sections)
    return {kind: count - former.get(kind, Count()) for kind, count in end.of(sections).items()}


def _read(text: str) -> tuple[Counts, Mapping[str, int]]:
    """Counts and ready servers of `show stat`."""
    counts, ready = dict[tuple[str, str], Count](), dict[str, int]()
    places, rows = cells(text)
    for row in rows:
        if (kind := _KINDS.get(row[places["svname"]])) is None:
            continue
        name = row[places["pxname"]]
        number = {column: int(row[places[column]] or 0) for column in ("req_tot", "stot", "hrsp_5xx", "act", "bck", *_FAILURES)}
        # A request without a server's response is answered with 5xx in mode http: it counts once.
        failures = max(number["hrsp_5xx"], sum(number[column] for column in _FAILURES))
        counts[kind, name] = Count(number["req_tot"] or number["stot"], failures)
        if kind == BACKENDS:
            ready[name] = number["act"] + number["bck"]
    return counts, ready
