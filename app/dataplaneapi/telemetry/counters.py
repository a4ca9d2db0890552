"""Count requests and events of the engine. `app/dataplaneapi/features/metrics/feature.py` serves the counters at `/metrics`."""

from bisect import bisect_left
from collections import Counter
from dataclasses import dataclass, field

from haproxy_native.commit.events import ChangedLive, Committed, Event, Reloaded, Validated

SECONDS = (0.001, 0.005, 0.025, 0.1, 0.25, 1.0, 2.5, 10.0, 60.0)
# The operation of requests without an operation of the document: unknown paths, pages, probes.
NO_OPERATION = ""


@dataclass
class Durations:
    """A histogram of durations."""

    # The sum of all durations, in seconds.
    total: float = 0.0
    # The number of durations in each bucket. SECONDS has the upper bounds of the buckets. The last bucket has no bound.
    counts: list[int] = field(default_factory=lambda: [0] * (len(SECONDS) + 1))

    def add(self, seconds: float) -> None:
        self.total += seconds
        self.counts[bisect_left(SECONDS, seconds)] += 1


class Tally:
    """The counters of requests and of events of the engine. `on_event` is the listener for the events."""

    def __init__(self) -> None:
        self.requests: Counter[tuple[str, int]] = Counter()
        self.latency: dict[str, Durations] = {}
        self.validations: dict[str, Durations] = {}
        self.commits: dict[str, Durations] = {}
        self.reloads: dict[str, Durations] = {}
        self.reload_reasons: Counter[str] = Counter()
        self.live_commands: Counter[str] = Counter()

    def answered(self, operation: str, status: int, seconds: float) -> None:
        self.requests[operation, status] += 1
        _durations_of(self.latency, operation).add(seconds)

    def on_event(self, event: Event) -> None:
        match event:
            case Validated(outcome, seconds):
                _durations_of(self.validations, outcome).add(seconds)
            case Committed(outcome, seconds):
                _durations_of(self.commits, outcome).add(seconds)
            case ChangedLive(commands):
                self.live_commands.update(map(kind_of, commands))
            case Reloaded(_, outcome, seconds, keywords):
                _durations_of(self.reloads, outcome).add(seconds)
                self.reload_reasons.update(set(keywords))


def kind_of(command: str) -> str:
    """Return a runtime command without its object and value, such as `set server weight` for `set server b/s weight 5`."""
    words = command.split()
    return " ".join([*words[:2], words[3]] if words[:2] == ["set", "server"] else words[:2])


def _durations_of(family: dict[str, Durations], label: str) -> Durations:
    if (durations := family.get(label)) is None:
        durations = family[label] = Durations()
    return durations
