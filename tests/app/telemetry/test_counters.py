"""What is counted, and under which name."""

import pytest

from dataplaneapi.telemetry.counters import SECONDS, Durations, Tally, kind_of
from haproxy_native.commit.events import ChangedLive, Committed, Reloaded, Validated


@pytest.mark.parametrize(
    ("command", "kind"),
    [
        ("set server app/s1 weight 5", "set server weight"),
        ("set server app/s1 addr 127.0.0.1 port 80", "set server addr"),
        ("add server app/s2 127.0.0.1:80 check", "add server"),
        ("enable health app/s1", "enable health"),
    ],
)
def test_kinds(command: str, kind: str) -> None:
    assert kind_of(command) == kind


def test_events_are_counted_by_outcome() -> None:
    tally = Tally()
    for event in (
        Validated("accepted", 0.02),
        Validated("refused", 0.02),
        Committed("live", 0.03),
        Committed("live", 0.5),
        ChangedLive(["set server a/b weight 1", "set server a/c weight 1", "add server a/d 127.0.0.1"]),
        Reloaded("2026-01-01-0", "succeeded", 0.4, ("bind", "bind", "")),
    ):
        tally.on_event(event)
    assert {outcome: sum(each.counts) for outcome, each in tally.validations.items()} == {"accepted": 1, "refused": 1}
    assert tally.commits["live"].total == pytest.approx(0.53)
    assert tally.live_commands == {"set server weight": 2, "add server": 1}
    assert tally.reload_reasons == {"bind": 1, "": 1}
    assert sum(tally.reloads["succeeded"].counts) == 1


def test_a_duration_belongs_to_the_first_bound_it_does_not_exceed() -> None:
    durations = Durations()
    for seconds in (SECONDS[0], SECONDS[0] * 1.01, SECONDS[-1] * 2):
        durations.add(seconds)
    assert (durations.counts[0], durations.counts[1], durations.counts[-1]) == (1, 1, 1)
