"""Measure the start of the client up to its first byte."""

from bench.ctl import ROWS, of_ctl


def test_both_rows_are_there() -> None:
    found = of_ctl(1)
    assert tuple(found) == ROWS
    assert all(0 < value < 60 for value in found.values())
