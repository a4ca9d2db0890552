"""Dialogues with a clock of our own: what comes in at which moment, and what goes out."""

import itertools

import pytest

from haproxy_native.reload.debounce import Action, Begin, Debounce, Finished, Input, Loading, Requested, Tick, Wake, Withdrawn

Dialogue = list[tuple[Input, list[Action]]]

DIALOGUES: dict[str, Dialogue] = {
    "one change is live after a moment of quiet": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Tick(101.0), [Wake(102.0)]),
        (Tick(102.0), [Begin("1")]),
        (Finished(102.5), []),
    ],
    "changes close together share a reload": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Requested("2", 101.0), [Wake(103.0)]),
        (Requested("3", 102.5), [Wake(104.5)]),
        (Tick(104.5), [Begin("1")]),
    ],
    "a stream of changes does not put a reload off beyond the delay": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Requested("2", 101.9), [Wake(103.9)]),
        (Requested("3", 103.8), [Wake(105.8)]),
        (Requested("4", 105.7), [Wake(107.7)]),
        (Requested("5", 107.6), [Wake(109.6)]),
        (Requested("6", 109.5), [Wake(110.0)]),
        (Tick(110.0), [Begin("1")]),
    ],
    "two reloads begin a delay apart": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Tick(102.0), [Begin("1")]),
        (Finished(102.2), []),
        (Requested("2", 103.0), [Wake(112.0)]),
        (Requested("3", 111.5), [Wake(113.0)]),
        (Tick(113.0), [Begin("2")]),
    ],
    "what is requested during a reload goes into the next": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Tick(102.0), [Begin("1")]),
        (Loading(102.1), []),
        (Requested("2", 102.5), []),
        (Requested("3", 103.0), []),
        (Tick(104.0), []),
        (Finished(105.0), [Wake(112.0)]),
        (Tick(112.0), [Begin("2")]),
    ],
    "a long reload is followed at once by the next": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Tick(102.0), [Begin("1")]),
        (Loading(102.1), []),
        (Requested("2", 103.0), []),
        (Finished(130.0), [Begin("2")]),
    ],
    "what is requested before HAProxy reads the file is covered": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Tick(102.0), [Begin("1")]),
        (Requested("1", 102.1), []),
        (Requested("1", 102.2, forced=True), []),
        (Loading(102.3), []),
        (Finished(105.0), []),
        (Tick(112.0), []),
    ],
    "a forced one takes the pending one along": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Requested("2", 100.1, forced=True), [Begin("1")]),
        (Finished(100.3), []),
        (Tick(102.0), []),
    ],
    "a forced one needs no pending one, and waits for no delay": [
        (Requested("1", 100.0, forced=True), [Begin("1")]),
        (Finished(100.2), []),
        (Requested("2", 100.3, forced=True), [Begin("2")]),
        (Finished(100.5), []),
    ],
    "a forced one waits for the running one, and one reload answers all who wait": [
        (Requested("1", 100.0, forced=True), [Begin("1")]),
        (Requested("2", 100.1), []),
        (Requested("3", 100.2, forced=True), []),
        (Requested("4", 100.3, forced=True), []),
        (Finished(101.0), [Begin("2")]),
        (Finished(102.0), []),
    ],
    "a scheduled one keeps its distance from a forced one": [
        (Requested("1", 100.0, forced=True), [Begin("1")]),
        (Finished(100.2), []),
        (Requested("2", 101.0), [Wake(110.0)]),
    ],
    "what has come into effect is not reloaded, and what comes later is": [
        (Requested("1", 100.0), [Wake(102.0)]),
        (Withdrawn(101.0), []),
        (Tick(102.0), []),
        (Requested("2", 103.0), [Wake(105.0)]),
        (Tick(105.0), [Begin("2")]),
    ],
    "the clock alone does nothing": [(Tick(1.0), []), (Tick(1000.0), [])],
}


@pytest.mark.parametrize("name", DIALOGUES)
def test_dialogue(name: str) -> None:
    debounce = Debounce(10.0)
    assert [debounce.handle(event) for event, _ in DIALOGUES[name]] == [actions for _, actions in DIALOGUES[name]]


def test_who_is_pending_and_who_runs() -> None:
    debounce = Debounce(10.0)
    assert debounce.pending is None
    debounce.handle(Requested("1", 0.0))
    debounce.handle(Requested("2", 0.0))
    assert (debounce.pending, debounce.running) == ("1", None)
    debounce.handle(Tick(10.0))
    assert (debounce.pending, debounce.running) == ("1", "1")
    debounce.handle(Loading(10.0))
    assert (debounce.pending, debounce.running) == (None, "1")
    debounce.handle(Requested("3", 10.0))
    assert (debounce.pending, debounce.running) == ("3", "1")


@pytest.mark.parametrize("gap", [0.3, 1.0, 3.0, 7.0, 11.0])
def test_no_request_waits_longer_than_the_delay_and_none_is_lost(gap: float) -> None:
    """A request every `gap` seconds for a while, reloads that take no time: simulated tick by tick."""
    debounce, wake, begun, waiting = Debounce(10.0), None, [], []
    moments = [number * gap for number in range(int(60 / gap))]
    for step in range(900):
        now = step / 10
        events: list[Input] = [Requested(str(moment), moment) for moment in moments if now - 0.1 < moment <= now]
        waiting += [event.at for event in events]
        events += [Tick(now)] if wake is not None and wake <= now else []
        for event in events:
            for action in debounce.handle(event):
                if isinstance(action, Wake):
                    wake = action.at
                else:
                    assert all(now - since <= 10.11 for since in waiting)
                    begun.append(now)
                    waiting, wake = [], None
                    assert debounce.handle(Finished(now)) == []
    assert not waiting
    assert all(later - earlier >= 9.89 for earlier, later in itertools.pairwise(begun))
