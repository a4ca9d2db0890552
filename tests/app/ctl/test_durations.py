"""Durations."""

import argparse
from datetime import UTC, datetime, timedelta

import pytest

from dataplaneapi.ctl.session import duration, moment


@pytest.mark.parametrize(
    ("text", "value"), [("30s", 30), ("5m", 300), ("2h", 7200), ("7", 7), ("1.5s", 1.5), ("250ms", 0.25), ("1d", 86400)]
)
def test_durations(text: str, value: float) -> None:
    assert duration(text) == value


@pytest.mark.parametrize("text", ["", "soon", "-1s", "1 s", "5x", "inf"])
def test_what_is_none(text: str) -> None:
    with pytest.raises(argparse.ArgumentTypeError):
        duration(text)


@pytest.mark.parametrize(("text", "ago"), [("24h", timedelta(hours=24)), ("2d", timedelta(days=2)), ("90", timedelta(seconds=90))])
def test_how_long_ago(text: str, ago: timedelta) -> None:
    before = datetime.now(UTC)
    assert before <= datetime.fromisoformat(moment(text)) + ago <= datetime.now(UTC)


def test_days_and_times() -> None:
    today, yesterday = (datetime.fromisoformat(moment(day)).astimezone() for day in ("today", "yesterday"))
    assert (today.hour, today.minute, yesterday.hour, yesterday.minute) == (0, 0, 0, 0)
    assert today.date() - yesterday.date() == timedelta(days=1)
    assert moment("2026-11-23T10:00:00Z") == "2026-11-23T10:00:00Z"
    for wrong in ("", "tomorrow", "x", "9" * 400 + "d"):
        with pytest.raises(argparse.ArgumentTypeError):
            moment(wrong)
