"""Durations."""

import argparse

import pytest

from dataplaneapi.ctl.durations import seconds


@pytest.mark.parametrize(
    ("text", "value"), [("30s", 30), ("5m", 300), ("2h", 7200), ("7", 7), ("1.5s", 1.5), ("250ms", 0.25), ("1d", 86400)]
)
def test_durations(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "soon", "-1s", "1 s", "5x", "inf"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        seconds(text)
