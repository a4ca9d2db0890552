"""Measure a fleet of three nodes. The test asserts no limit."""

from bench.__main__ import OURS
from bench.fleet import ROWS, WRITES_OF_NODE, of_fleet
from bench.plan import effort


def test_a_fleet_is_measured() -> None:
    rows = of_fleet(OURS.split("=", 1)[1], effort(100, transactions=1, quick=True))
    assert tuple(rows) == ROWS and 0 < rows[WRITES_OF_NODE] < 20
