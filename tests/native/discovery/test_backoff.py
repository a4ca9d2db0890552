"""Seconds between tries."""

import pytest

from haproxy_native.discovery.poller import least_pause, until_retry


@pytest.mark.parametrize(
    ("interval", "seconds"),
    [(1, [1, 1, 2, 4, 8, 16, 32, 60, 60]), (25, [25, 25, 50, 60, 60]), (300, [300, 300, 300])],
)
def test_what_fails_is_tried_less_and_less_often(interval: float, seconds: list[float]) -> None:
    assert [until_retry(interval, failures) for failures in range(len(seconds))] == seconds
    assert until_retry(interval, 10**6) == seconds[-1]


@pytest.mark.parametrize(("interval", "took", "seconds"), [(30, 0.01, 1), (30, 0.5, 5), (30, 9, 30), (0.5, 0.01, 0.5)])
def test_most_of_the_time_nobody_is_asked(interval: float, took: float, seconds: float) -> None:
    assert least_pause(interval, took) == seconds
