"""Measure the memory of the history of counters. The test asserts no limit."""

from bench.statistics_history import ROW, of_statistics_history


def test_an_hour_is_kept() -> None:
    rows = of_statistics_history(servers=20, backends=2)
    assert list(rows) == [ROW] and 0 < rows[ROW] < 1
