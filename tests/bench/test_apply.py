"""Measure the cost of apply. The test asserts no limit."""

from bench.apply import FIRST, SECOND, of_apply
from bench.plan import effort


def test_calls() -> None:
    rows = of_apply(effort(100, transactions=1, quick=True))
    assert list(rows) == [FIRST, SECOND] and 0 < rows[SECOND] < 50
