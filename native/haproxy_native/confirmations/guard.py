"""What a guard says of a change by the traffic of the sections that it touches: good, bad, or nothing yet. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from math import sqrt
from typing import Any

GOOD, BAD, INCONCLUSIVE = "good", "bad", "inconclusive"
# Standard deviations: 95 % for all of some sixty looks together, so that looking often finds no more than looking once.
DEVIATIONS = 3.35
# Looks in a row that show fewer ready servers.
STEADY = 3


@dataclass(frozen=True)
class Guard:
    """`errors`: by how many points the share of failed requests may rise, None for any. `ready`: whether no section may have fewer ready
    servers. A change is good `seconds` after it, with at least `min_requests`.
    """

    errors: float | None = None
    ready: bool = False
    min_requests: int = 50
    seconds: float = 60.0
    auto_confirm: bool = False


@dataclass(frozen=True)
class Count:
    """Requests, and those that failed: answered with 5xx, or without a connection or response of a server."""

    requests: int = 0
    failures: int = 0

    def __add__(self, other: "Count") -> "Count":
        return Count(self.requests + other.requests, self.failures + other.failures)

    def __sub__(self, other: "Count") -> "Count":
        return Count(max(0, self.requests - other.requests), max(0, self.failures - other.failures))

    @property
    def interval(self) -> tuple[float, float, float]:
        """The share of failures with the bounds of its interval (Wilson): low, share, high. Without requests nothing has failed."""
        if not self.requests:
            return 0.0, 0.0, 0.0
        share, square = min(1.0, self.failures / self.requests), DEVIATIONS**2 / self.requests
        center = share + square / 2
        spread = DEVIATIONS * sqrt(share * (1 - share) / self.requests + square / (4 * self.requests))
        return max(0.0, (center - spread) / (1 + square)), share, min(1.0, (center + spread) / (1 + square))


def rise(before: Count, after: Count) -> tuple[float, float]:
    """The bounds of the rise, in points: the difference of two shares (Newcombe's interval)."""
    low, share, high = before.interval
    new_low, new_share, new_high = after.interval
    difference = new_share - share
    return (
        100 * (difference - sqrt((new_share - new_low) ** 2 + (high - share) ** 2)),
        100 * (difference + sqrt((new_high - new_share) ** 2 + (share - low) ** 2)),
    )


@dataclass(frozen=True)
class Verdict:
    """`reasons` are for people, of GOOD and INCONCLUSIVE too. `before` and `after`: requests and failures of frontends and of backends."""

    result: str
    reasons: Sequence[str]
    before: Mapping[str, Count]
    after: Mapping[str, Count]

    def as_dict(self) -> dict[str, Any]:
        return {
            "result": self.result,
            "reasons": list(self.reasons),
            "before": {name: asdict(count) for name, count in self.before.items()},
            "after": {name: asdict(count) for name, count in self.after.items()},
        }


@dataclass(frozen=True)
class Seen:
    """`before` and `after` the change: counts of frontends and of backends that it touches. `ready`: servers of each backend before it,
    and in the last looks since. `seconds` since the change.
    """

    before: Mapping[str, Count]
    after: Mapping[str, Count]
    ready: Mapping[str, int]
    looks: Sequence[Mapping[str, int]]
    seconds: float


def judge(guard: Guard, seen: Seen) -> Verdict:
    if wrong := [*_too_many_errors(guard, seen), *_too_few_servers(guard, seen)]:
        return Verdict(BAD, wrong, seen.before, seen.after)
    missing = list(_missing(guard, seen))
    return Verdict(INCONCLUSIVE if missing else GOOD, missing, seen.before, seen.after)


def _too_many_errors(guard: Guard, seen: Seen) -> Iterator[str]:
    for name, after in seen.after.items():
        before = seen.before.get(name, Count())
        if guard.errors is None or after.requests < guard.min_requests:
            continue
        if (low := rise(before, after)[0]) > guard.errors:
            share, former = (f"{count.failures} of {count.requests} requests" for count in (after, before))
            yield f"{share} to {name} have failed, {former} before: more by at least {low:.1f} points, and {guard.errors:g} may be"


def _too_few_servers(guard: Guard, seen: Seen) -> Iterator[str]:
    looks = seen.looks[-STEADY:]
    if not guard.ready or len(looks) < STEADY:
        return
    for name, before in seen.ready.items():
        if all(name in look for look in looks) and (now := max(look[name] for look in looks)) < before:
            yield f"backend {name} has {now} ready servers, {before} before"


def _missing(guard: Guard, seen: Seen) -> Iterator[str]:
    """What keeps a change that is not bad from being good."""
    if (left := guard.seconds - seen.seconds) > 0:
        yield f"{left:.0f} s are left to be watched"
    asked = max((count.requests for count in seen.after.values()), default=0)
    if guard.errors is not None and asked < max(1, guard.min_requests):
        yield f"{asked} requests since the change, and it takes {guard.min_requests}"
    if guard.ready and len(seen.looks) < STEADY:
        yield "HAProxy has not been asked often enough"
