"""Measure the computation of the effects of a changed weight. The test asserts no limit."""

from bench.effects import FLOOR, ROW, of_effects


def test_effects() -> None:
    rows = of_effects(servers=100)
    assert list(rows) == [ROW, FLOOR] and all(value > 0 for value in rows.values())
