"""What the effects of a weight cost is measured; no figure is held here."""

from bench.effects import FLOOR, ROW, of_effects


def test_effects() -> None:
    rows = of_effects(servers=100)
    assert list(rows) == [ROW, FLOOR] and all(value > 0 for value in rows.values())
