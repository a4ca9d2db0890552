"""`Guard`: conditions under which an unconfirmed change is rolled back before its deadline. `GuardWatch` reads the statistics for it.

A guard compares what the worker in service reports in `show stat` with its baseline, what the worker reported when the change had taken
effect. A worker that was started later has served nothing but the change, so its counters count from zero; that covers the reload for the
change as well as later ones. Former workers do not count: they finish connections that began before the change, with the configuration
before it. Cleared counters count from zero. The baseline is stored with the confirmation, so a restart of this server loses nothing.
"""

import json
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import asdict, dataclass
from typing import Any

from haproxy_native.editing.defaults_sections import DEFAULTS, PROXIES, all_inherited_defaults
from haproxy_native.editing.object_names import parsed
from haproxy_native.runtime.responses import cells
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

GOOD, BAD, INCONCLUSIVE = "good", "bad", "inconclusive"
EXAMPLE = '{"errors": 2, "ready": true, "min_requests": 50}'
# How many consecutive readings with fewer ready servers make a change bad. More than one, since servers whose addresses are resolved after
# a reload are not ready at first.
STEADY = 3
READ_SECONDS = 1.0
MOST = 1_000_000_000
_MEMBERS = {"errors": (int, float), "ready": (bool,), "min_requests": (int,)}
_KINDS = {"FRONTEND": "frontends", "BACKEND": "backends"}


@dataclass(frozen=True)
class Guard:
    # Percent of the requests since the change that may be answered with 5xx; None for any.
    errors: float | None = None
    # Whether no backend may have fewer ready servers than before the change.
    ready: bool = False
    # With fewer requests, the percentage of errors is not judged.
    min_requests: int = 50


def read_guard(text: str) -> Guard:
    """Return the guard that a JSON text describes. Raises ValueError, which names the member."""
    try:
        given = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON such as {EXAMPLE}: {error}") from None
    for name, value in _members(given):
        if name not in _MEMBERS:
            raise ValueError(f"unknown member {name[:40]!r}; expected {', '.join(_MEMBERS)}")
        if not isinstance(value, _MEMBERS[name]) or (isinstance(value, bool) and name != "ready"):
            raise ValueError(f"{name} has the wrong type; expected a value as in {EXAMPLE}")
    guard = Guard(**given)
    if guard.errors is None and not guard.ready:
        raise ValueError("it compares nothing; set errors, ready or both")
    if not 0 <= (guard.errors or 0) <= 100 or not 1 <= guard.min_requests <= MOST:
        raise ValueError(f"errors is a percentage from 0 to 100, and min_requests at least 1 and at most {MOST}")
    return guard


def _members(given: Any) -> Iterable[tuple[str, Any]]:
    if isinstance(given, dict):
        return given.items()
    raise ValueError(f"it is not an object such as {EXAMPLE}")


@dataclass(frozen=True)
class Count:
    requests: int = 0
    # The requests that were answered with 5xx.
    errors: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.requests + other.requests, self.errors + other.errors)


@dataclass(frozen=True)
class WorkerStatistics:
    """What one worker reports in `show stat`."""

    # Pid and time of start.
    worker: str
    # By kind (frontends or backends) and name.
    counts: Mapping[tuple[str, str], Count]
    # The number of servers that accept requests, by backend.
    ready: Mapping[str, int]

    def totals(self, sections: AbstractSet[str]) -> dict[str, Count]:
        """Return the sums over these sections, by kind."""
        totals = dict[str, Count]()
        for (kind, name), count in self.counts.items():
            if name in sections:
                totals[kind] = totals.get(kind, Count()) + count
        return totals


def read_statistics(worker: str, text: str) -> WorkerStatistics:
    """Parse the answer to `show stat`."""
    counts, ready = dict[tuple[str, str], Count](), dict[str, int]()
    places, rows = cells(text)
    for row in rows:
        if (kind := _KINDS.get(row[places["svname"]])) is None:
            continue
        name = row[places["pxname"]]
        requests, errors, active, backup = (int(row[places[column]] or 0) for column in ("req_tot", "hrsp_5xx", "act", "bck"))
        counts[kind, name] = Count(requests, errors)
        if kind == "backends":
            ready[name] = active + backup
    return WorkerStatistics(worker, counts, ready)


def baseline(before: WorkerStatistics, after: WorkerStatistics | None, sections: AbstractSet[str]) -> dict[str, Any]:
    """Return the baseline with which readings after a change are compared, as the confirmation stores it.

    `before` was read before the change, and `after` when it had taken effect; None if HAProxy did not answer. Counting starts with `after`
    if the same worker serves; else it starts with the new worker.
    """
    start = after if after and after.worker == before.worker else before
    return {
        "sections": sorted(sections),
        "worker": start.worker,
        "counts": {kind: asdict(count) for kind, count in start.totals(sections).items()},
        "ready": {name: count for name, count in before.ready.items() if name in sections},
    }


@dataclass(frozen=True)
class Verdict:
    result: str
    # Why the result is bad or inconclusive, with the numbers.
    reasons: Sequence[str]
    # The requests to frontends and to backends since the change, by kind.
    counts: Mapping[str, Count]

    def as_dict(self) -> dict[str, Any]:
        return {"result": self.result, "reasons": list(self.reasons), **{kind: asdict(count) for kind, count in self.counts.items()}}


def judge(guard: Guard, start: Mapping[str, Any], readings: Sequence[WorkerStatistics]) -> Verdict:
    """Return the verdict for the last readings, compared with the baseline of a change. There is at least one; the newest is the last."""
    counts = _since(start, readings[-1])
    short = list(_short_of_servers(start, readings[-1:])) if guard.ready else []
    bad = list(_too_many_errors(guard, counts))
    if short and len(readings) >= STEADY:
        bad += _short_of_servers(start, readings[-STEADY:])
    if bad:
        return Verdict(BAD, bad, counts)
    most = max((count.requests for count in counts.values()), default=0)
    if guard.errors is not None and most < guard.min_requests:
        short.append(f"{most} requests since the change; the guard needs {guard.min_requests}")
    return Verdict(INCONCLUSIVE if short else GOOD, short, counts)


def _since(start: Mapping[str, Any], now: WorkerStatistics) -> dict[str, Count]:
    counts = dict[str, Count]()
    for kind, count in now.totals(frozenset(start["sections"])).items():
        former = Count(**start["counts"].get(kind, {})) if now.worker == start["worker"] else Count()
        is_cleared = count.requests < former.requests or count.errors < former.errors
        counts[kind] = count if is_cleared else Count(count.requests - former.requests, count.errors - former.errors)
    return counts


def _too_many_errors(guard: Guard, counts: Mapping[str, Count]) -> Iterator[str]:
    for kind, count in counts.items():
        if guard.errors is None or count.requests < guard.min_requests:
            continue
        if (share := 100 * count.errors / count.requests) > guard.errors:
            found = f"{count.errors} of {count.requests} requests to {kind} were answered with 5xx"
            yield f"{found}: {share:.1f} %, and the guard permits {guard.errors:g} %"


def _short_of_servers(start: Mapping[str, Any], readings: Sequence[WorkerStatistics]) -> Iterator[str]:
    """Yield a text about each backend with fewer ready servers than before in all these readings. Deleted backends are left out."""
    for name, before in start["ready"].items():
        now = [reading.ready.get(name, before) for reading in readings]
        if max(now) < before:
            yield f"backend {name} has {now[-1]} ready servers; before the change it had {before}"


class GuardWatch:
    """Reads the statistics of the worker in service, for one guarded change at a time.

    `ask` returns the name of that worker and its answer to `show stat`; it raises RuntimeFailure. HAProxy gets no other commands.
    """

    def __init__(self, ask: Callable[[], Awaitable[tuple[str, str]]]) -> None:
        self._ask = ask
        self._id, self._due = "", 0.0
        self._readings: deque[WorkerStatistics] = deque(maxlen=STEADY)

    async def read(self) -> WorkerStatistics:
        """Return a reading of the worker in service. Raises RuntimeFailure."""
        return await run_in_thread(read_statistics, *await self._ask())

    async def verdict(self, id_: str, guard: Guard, start: Mapping[str, Any] | None) -> Verdict | None:
        """Return the present verdict of a confirmation's guard; None if the last one is less than a second old. Raises RuntimeFailure."""
        if id_ != self._id:
            self._id, self._due = id_, 0.0
            self._readings.clear()
        if time.monotonic() < self._due:
            return None
        self._due = time.monotonic() + READ_SECONDS
        if start is None or "unknown" in start:
            reason = start["unknown"] if start else "the server was restarted meanwhile"
            return Verdict(INCONCLUSIVE, [f"the state before the change is unknown: {reason}"], {})
        self._readings.append(await self.read())
        return await run_in_thread(judge, guard, start, list(self._readings))


def affected_sections(document: Document, objects: Collection[str]) -> frozenset[str]:
    """Return the names of the frontends, backends and listens whose traffic a change of these objects can alter.

    A defaults section affects all sections that inherit from it. A stored file, or any other section, affects all that name it; `global`
    affects all.
    """
    names = set[str]()
    for kind, name in {parsed(object_)[:2] if "/" in object_ else (object_, "") for object_ in objects}:
        if kind in PROXIES:
            names.add(name)
        else:
            names.update(_using(document, kind, name))
    return frozenset(names)


def _using(document: Document, kind: str, name: str) -> Iterator[str]:
    word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
    for section, source in zip(document.sections, all_inherited_defaults(document), strict=True):
        if section.kind not in PROXIES:
            continue
        inherited = document.find(DEFAULTS, source or "")
        inherits = kind == DEFAULTS and source == name
        names = kind != DEFAULTS and (not name or word.search(section.text) or (inherited and word.search(inherited.text)))
        if inherits or names:
            yield section.name
