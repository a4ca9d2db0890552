"""Durations and sizes."""

import pytest

from dataplaneapi.settings.quantities import duration, seconds, size


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("10s", 10), ("500ms", 0.5), ("3m", 180), ("1h30m", 5400), ("1.5s", 1.5), ("0", 0), ("0s", 0), ("250us", 0.00025), ("250µs", 0.00025)],
)
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == pytest.approx(seconds)


@pytest.mark.parametrize(("text", "value"), [("30", 30), ("0", 0), ("1.5", 1.5), ("5m", 300), ("120s", 120)])
def test_seconds_may_go_without_their_unit(text: str, value: float) -> None:
    assert seconds(text) == value


@pytest.mark.parametrize("text", ["", "-1", "1e3", "nan", "9" * 400, "1 s", "ten"])
def test_no_seconds(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        seconds(text)


@pytest.mark.parametrize("text", ["", "10", "s", "10 s", "1d", "-1s", "1s1"])
def test_no_durations(text: str) -> None:
    with pytest.raises(ValueError, match="is not a duration"):
        duration(text)


@pytest.mark.parametrize(
    ("text", "bytes_"),
    [("512", 512), ("1KB", 1000), ("1MiB", 1_000_000), ("1GiB", 10**9), ("64 kb", 64_000), ("1.5m", 1_500_000), ("7b", 7)],
)
def test_sizes(text: str, bytes_: int) -> None:
    assert size(text) == bytes_


@pytest.mark.parametrize("text", ["", "many", "1x", "-1", "1 2"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(ValueError, match="is not a size"):
        size(text)
