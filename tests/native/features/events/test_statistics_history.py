"""Store an hour of counters: rates, breaks and limits. tests/acceptance/test_events.py has tests with a real HAProxy."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest

from haproxy_native.features.events import statistics_history
from haproxy_native.features.events.statistics import Statistics
from haproxy_native.features.events.statistics_history import MEASURES, SampleRing

HEAD = "# pxname,svname,qcur,scur,stot,econ,eresp,hrsp_4xx,hrsp_5xx,req_tot,rtime,type,"
INTERVAL = 5.0


class Clock:
    """A clock that the test advances."""

    def __init__(self) -> None:
        self.time = 1_000.0

    def __call__(self) -> float:
        return self.time


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def ring(clock: Clock) -> SampleRing:
    return SampleRing(frozenset(("frontend", "backend")), INTERVAL, now=clock, clock=clock)


@pytest.fixture
def add(ring: SampleRing, clock: Clock) -> Callable[..., None]:
    """Return a function that adds a sample with these rows, after the interval or `after` seconds."""

    def add(*rows: str, after: float = INTERVAL) -> None:
        clock.time += after
        answer = Statistics("\n".join([HEAD, *rows]))
        ring.add(row for piece in answer.numbers(ring.kinds, list(MEASURES.values())) for row in piece)

    return add


def read(ring: SampleRing, *measures: str, seconds: float = 3600) -> dict[str, Any]:
    """Return the numbers by object. If one measure is named, return only its numbers."""
    found = ring.read(seconds, measures or MEASURES, lambda _: True)
    rows = {row.pop("object"): row for row in found["rows"]}
    return {name: row.get(*measures) for name, row in rows.items()} if measures else rows


def shop(requests: int, *, sessions: int = 0, failed: int = 0) -> str:
    return f"shop,BACKEND,2,{sessions},9,{failed},0,10,20,{requests},7,1,"


def test_rates_are_averages_and_other_numbers_are_as_they_are(ring: SampleRing, add: Callable[..., None]) -> None:
    add(shop(100, sessions=3), "web,FRONTEND,,1,50,,,0,0,,,0,", "shop,web1,0,1,5,0,0,0,0,,3,2,")
    add(shop(150, sessions=4, failed=2), "web,FRONTEND,,1,55,,,0,0,,,0,", after=10)
    assert read(ring) == {
        "backend/shop": {
            "requests": [None, 5.0],
            "errors_4xx": [None, 0.0],
            "errors_5xx": [None, 0.0],
            "connection_errors": [None, 0.2],
            "response_errors": [None, 0.0],
            "sessions": [3, 4],
            "response_time": [7, 7],
            "queue": [2, 2],
        },
        # A frontend of mode tcp has sessions instead of requests, and neither queue nor response time.
        "frontend/web": {"requests": [None, 0.5], "errors_4xx": [None, 0.0], "errors_5xx": [None, 0.0], "sessions": [1, 1]},
    }


def break_by_a_decrease(ring: SampleRing, add: Callable[..., None]) -> None:
    add("api,BACKEND,0,0,0,0,0,0,0,3,0,1,", shop(500))


def break_by_another_worker(ring: SampleRing, add: Callable[..., None]) -> None:
    ring.restart()
    add("api,BACKEND,0,0,0,0,0,0,0,9,0,1,", shop(500))


def break_by_silence(ring: SampleRing, add: Callable[..., None]) -> None:
    ring.skip()
    add("api,BACKEND,0,0,0,0,0,0,0,9,0,1,", shop(500))


def break_by_a_stopped_process(ring: SampleRing, add: Callable[..., None]) -> None:
    add("api,BACKEND,0,0,0,0,0,0,0,9,0,1,", shop(500), after=60)


@pytest.mark.parametrize("broken", [break_by_a_decrease, break_by_another_worker, break_by_silence, break_by_a_stopped_process])
def test_after_a_break_no_rate_is_known(ring: SampleRing, add: Callable[..., None], broken: Callable[..., None]) -> None:
    """No object has a rate, because a counter of another worker may be greater by chance."""
    for requests in (0, 10):
        add("api,BACKEND,0,0,0,0,0,0,0,9,0,1,", shop(requests))
    broken(ring, add)
    add("api,BACKEND,0,0,0,0,0,0,0,9,0,1,", shop(520))
    assert read(ring, "requests")["backend/shop"] == [None, 2.0, None, 4.0]


def test_objects_that_come_and_go(ring: SampleRing, add: Callable[..., None]) -> None:
    other = "api,BACKEND,0,5,0,0,0,0,0,{},0,1,"
    for rows in ([shop(5)], [other.format(100), shop(10)], [other.format(110), shop(15)], [other.format(120)]):
        add(*rows)
    assert read(ring, "requests") == {"backend/shop": [None, 1.0, 1.0, None], "backend/api": [None, None, 2.0, 2.0]}
    assert read(ring, "sessions", seconds=7) == {"backend/shop": [0, None], "backend/api": [5, 5]}


def test_an_hour_is_kept_or_less_where_it_would_be_too_large(
    ring: SampleRing, add: Callable[..., None], monkeypatch: pytest.MonkeyPatch
) -> None:
    for _ in range(730):
        add(shop(1))
    assert len(ring.read(10_000, (), lambda _: True)["times"]) == 720
    before = ring._size
    add(shop(1))
    assert ring._size == before, "what is dropped is not counted any more"
    monkeypatch.setattr(statistics_history, "MOST_BYTES", before // 2)
    add(shop(1))
    assert 300 < len(ring.read(10_000, (), lambda _: True)["times"]) < 400 and ring._size <= before // 2


@pytest.mark.parametrize(("after", "is_due"), [((), True), ((0.0,), False), ((4.4,), False), ((4.6,), True)])
def test_when_the_next_sample_is_due(
    ring: SampleRing, add: Callable[..., None], clock: Clock, after: Sequence[float], is_due: bool
) -> None:
    add(shop(1))
    clock.time += sum(after) if after else INTERVAL
    assert ring.is_due() == is_due
