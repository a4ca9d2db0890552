"""Measure the ratio of the slowest to the fastest refusal. The test asserts no limit."""

from bench.refusals import ROW, of_refusals


def test_there_is_a_ratio() -> None:
    assert of_refusals()[ROW] >= 1
