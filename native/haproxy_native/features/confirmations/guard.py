"""Guard an unconfirmed change: decide from HAProxy's statistics whether to roll it back before its deadline.

A `Guard` limits the share of requests that are answered with 5xx. It can also demand that no backend has fewer ready servers than before
the change. `GuardWatch` reads `show stat` of the worker in service, at most once a second. `judge` compares the last readings with the
baseline of the change. The verdict is one of these:

* BAD: a condition is violated, and the change is rolled back. Too few ready servers count only in STEADY consecutive readings.
* INCONCLUSIVE: there are fewer requests than the guard needs, too few servers in the last reading, or no statistics.
* GOOD: all conditions are met.

Only requests since the change count:

* If the change did not start a new worker, the counters in the baseline are subtracted. They were read when the change had taken effect.
* A worker that started with the change or later has no requests from before the change, so nothing is subtracted.
* If a counter is smaller than in the baseline, it was cleared in between, so nothing is subtracted.
* Former workers are not read, because they finish old connections with the old configuration.

The baseline is stored with the confirmation, so the comparison continues after a restart of this server.
"""

import json
import re
import time
from collections import deque
from collections.abc import Awaitable, Callable, Collection, Iterator, Mapping, Sequence
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
# The number of consecutive readings with too few ready servers that make a change BAD. One is not enough: after a reload, servers are not
# ready until HAProxy has resolved their addresses.
STEADY = 3
# The shortest time between two readings.
READ_SECONDS = 1.0
# The largest `min_requests` of a guard.
MOST = 1_000_000_000
# The types of a guard's members.
_MEMBERS = {"errors": (int, float), "ready": (bool,), "min_requests": (int,)}
# The rows of `show stat` with the sums of a proxy, by `svname`, and the names of their kinds.
_KINDS = {"FRONTEND": "frontends", "BACKEND": "backends"}


@dataclass(frozen=True)
class Guard:
    """The conditions that an unconfirmed change must meet, or else it is rolled back. At least one of `errors` and `ready` is set."""

    # The largest percentage of the requests since the change that may be answered with 5xx; None for no limit.
    errors: float | None = None
    # Whether each backend must have as many ready servers as before the change.
    ready: bool = False
    # The number of requests from which on `errors` is compared.
    min_requests: int = 50


def read_guard(text: str) -> Guard:
    """Parse a guard from JSON. Raises ValueError for an invalid text, member or value."""
    try:
        given = json.loads(text)
    except (json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"it is not JSON such as {EXAMPLE}: {error}") from None
    if not isinstance(given, dict):
        raise ValueError(f"it is not an object such as {EXAMPLE}")  # noqa: TRY004 - callers report each fault of the text as ValueError
    for name, value in given.items():
        if name not in _MEMBERS:
            raise ValueError(f"unknown member {name[:40]!r}; expected {', '.join(_MEMBERS)}")
        if not isinstance(value, _MEMBERS[name]) or (isinstance(value, bool) and name != "ready"):
            raise ValueError(f"{name} has the wrong type; expected a value as in {EXAMPLE}")
    guard = Guard(**given)
    if guard.errors is None and not guard.ready:
        raise ValueError("it has no condition; set errors, ready or both")
    if not 0 <= (guard.errors or 0) <= 100 or not 1 <= guard.min_requests <= MOST:
        raise ValueError(f"expected errors from 0 to 100, in percent, and min_requests from 1 to {MOST}")
    return guard


@dataclass(frozen=True)
class Count:
    """A number of requests, and how many of them failed."""

    requests: int = 0
    # The requests that were answered with 5xx.
    errors: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.requests + other.requests, self.errors + other.errors)


@dataclass(frozen=True)
class WorkerStatistics:
    """One answer of a worker to `show stat`, parsed."""

    # The name of the worker, as `PID@START`.
    worker: str
    # The requests of each proxy, by kind (`frontends` or `backends`) and name.
    counts: Mapping[tuple[str, str], Count]
    # The number of servers that accept requests, by backend.
    ready: Mapping[str, int]

    def totals(self, sections: AbstractSet[str]) -> dict[str, Count]:
        """Return the sum of the counts of `sections`, by kind."""
        totals = dict[str, Count]()
        for (kind, name), count in self.counts.items():
            if name in sections:
                totals[kind] = totals.get(kind, Count()) + count
        return totals


def read_statistics(worker: str, text: str) -> WorkerStatistics:
    """Parse the answer of a worker to `show stat`. `worker` is its name, as `PID@START`."""
    counts, ready = dict[tuple[str, str], Count](), dict[str, int]()
    columns, rows = cells(text)
    for row in rows:
        if (kind := _KINDS.get(row[columns["svname"]])) is None:
            continue
        name = row[columns["pxname"]]
        requests, errors, active, backup = (int(row[columns[column]] or 0) for column in ("req_tot", "hrsp_5xx", "act", "bck"))
        counts[kind, name] = Count(requests, errors)
        if kind == "backends":
            ready[name] = active + backup
    return WorkerStatistics(worker, counts, ready)


def baseline(before: WorkerStatistics, after: WorkerStatistics | None, sections: AbstractSet[str]) -> dict[str, Any]:
    """Return the baseline of a change to these sections, as JSON for the confirmation to store.

    `before` was read before the change. `after` was read once the change had taken effect; None if HAProxy did not answer. The counters
    come from `after` if both are from the same worker, and otherwise from `before`.
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
    """What `judge` concludes about a guarded change."""

    # GOOD, BAD or INCONCLUSIVE.
    result: str
    # Why the result is bad or inconclusive, with the numbers.
    reasons: Sequence[str]
    # The requests since the change, by kind (`frontends` and `backends`).
    counts: Mapping[str, Count]

    def as_dict(self) -> dict[str, Any]:
        return {"result": self.result, "reasons": list(self.reasons), **{kind: asdict(count) for kind, count in self.counts.items()}}


def judge(guard: Guard, start: Mapping[str, Any], readings: Sequence[WorkerStatistics]) -> Verdict:
    """Compare the last readings with the baseline `start`. `readings`: at least one reading, the newest last."""
    last, counts = readings[-1], dict[str, Count]()
    for kind, count in last.totals(frozenset(start["sections"])).items():
        former = Count(**start["counts"].get(kind, {})) if last.worker == start["worker"] else Count()
        is_cleared = count.requests < former.requests or count.errors < former.errors
        counts[kind] = count if is_cleared else Count(count.requests - former.requests, count.errors - former.errors)
    bad = list[str]()
    for kind, count in counts.items():
        if guard.errors is None or count.requests < guard.min_requests:
            continue
        if (share := 100 * count.errors / count.requests) > guard.errors:
            numbers = f"{count.errors} of {count.requests} requests to {kind} were answered with 5xx"
            bad.append(f"{numbers}: {share:.1f} %, and the guard permits {guard.errors:g} %")
    reasons = list(_short_of_servers(start, readings[-1:])) if guard.ready else []
    if reasons and len(readings) >= STEADY:
        bad += _short_of_servers(start, readings[-STEADY:])
    if bad:
        return Verdict(BAD, bad, counts)
    most = max((count.requests for count in counts.values()), default=0)
    if guard.errors is not None and most < guard.min_requests:
        reasons.append(f"{most} requests since the change; the guard needs {guard.min_requests}")
    return Verdict(INCONCLUSIVE if reasons else GOOD, reasons, counts)


def _short_of_servers(start: Mapping[str, Any], readings: Sequence[WorkerStatistics]) -> Iterator[str]:
    """Yield a text about each backend that has fewer ready servers in each of `readings` than before the change.

    A backend that is missing from a reading was deleted, and counts as if it had as many ready servers as before.
    """
    for name, before in start["ready"].items():
        numbers = [reading.ready.get(name, before) for reading in readings]
        if max(numbers) < before:
            yield f"backend {name} has {numbers[-1]} ready servers; before the change it had {before}"


class GuardWatch:
    """Reads the statistics of the worker in service, and stores the last STEADY readings for one confirmation.

    `query` returns the name of the worker (`PID@START`) and its answer to `show stat`, and raises RuntimeFailure.
    """

    def __init__(self, query: Callable[[], Awaitable[tuple[str, str]]]) -> None:
        self._query = query
        # The id of the confirmation, and when its next reading is due, by the monotonic clock.
        self._id, self._due = "", 0.0
        self._readings: deque[WorkerStatistics] = deque(maxlen=STEADY)

    async def statistics(self) -> WorkerStatistics:
        """Query the statistics of the worker in service. Raises RuntimeFailure."""
        return await run_in_thread(read_statistics, *await self._query())

    async def verdict(self, id_: str, guard: Guard, start: Mapping[str, Any] | None) -> Verdict | None:
        """Query the statistics, and compare them with the baseline `start` of the confirmation `id_`.

        Returns None if the last verdict is less than READ_SECONDS old. Raises RuntimeFailure.
        """
        if id_ != self._id:
            self._id, self._due = id_, 0.0
            self._readings.clear()
        if time.monotonic() < self._due:
            return None
        self._due = time.monotonic() + READ_SECONDS
        if start is None or "unknown" in start:
            reason = start["unknown"] if start else "the server was restarted while the change was made"
            return Verdict(INCONCLUSIVE, [f"the state before the change is unknown: {reason}"], {})
        self._readings.append(await self.statistics())
        return await run_in_thread(judge, guard, start, list(self._readings))


def affected_sections(document: Document, objects: Collection[str]) -> frozenset[str]:
    """Return the names of the frontends, backends and listens whose traffic a change of `objects` may affect.

    A defaults section affects the proxies that inherit from it, and `global` affects all. A stored file, or a section of any other kind,
    affects each proxy that has its name in a line, or inherits such a line.
    """
    affected = set[str]()
    for kind, name in {parsed(object_)[:2] if "/" in object_ else (object_, "") for object_ in objects}:
        if kind in PROXIES:
            affected.add(name)
            continue
        word = re.compile(rf"(?<![\w.-]){re.escape(name)}(?![\w.-])")
        for section, source in zip(document.sections, all_inherited_defaults(document), strict=True):
            if section.kind not in PROXIES:
                continue
            if kind == DEFAULTS:
                is_affected = source == name
            else:
                inherited = document.find(DEFAULTS, source or "")
                is_affected = not name or any(word.search(each.text) for each in (section, inherited) if each is not None)
            if is_affected:
                affected.add(section.name)
    return frozenset(affected)
