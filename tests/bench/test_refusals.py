"""The ratio of the slowest refusal to the quickest is measured; no figure is held here."""

from bench.refusals import ROW, of_refusals


def test_there_is_a_ratio() -> None:
    assert of_refusals()[ROW] >= 1
