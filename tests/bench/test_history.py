"""Measure the cost of a history entry. The test asserts no limit."""

from bench.history import ROW, of_history
from bench.plan import effort


def test_entries() -> None:
    rows = of_history(effort(100, transactions=1, quick=True))
    assert list(rows) == [ROW] and 0 <= rows[ROW] < 5
