"""Durations as the API has them: `30s`, `5m`, `2h`; a bare number is seconds. Moments: a time of RFC 3339, or how long ago."""

import argparse
import re
from datetime import UTC, datetime, time, timedelta

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}
_DAYS = ("today", "yesterday")


def seconds(text: str) -> float:
    """Raises argparse.ArgumentTypeError, as types of arguments do."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration, such as 30s or 5m")
    return float(match[1]) * _UNITS[match[2] or ""]


def moment(text: str) -> str:
    """Return a time of RFC 3339 for `24h` (that long ago), `today` and `yesterday` (their first moment here), or a time itself.

    Raises argparse.ArgumentTypeError.
    """
    now = datetime.now(UTC)
    if text in _DAYS:
        day = now.astimezone().date() - timedelta(days=_DAYS.index(text))
        return datetime.combine(day, time()).astimezone(UTC).isoformat()
    if re.fullmatch(r"\d{4}-\d{2}-\d{2}.*", text):
        return text
    try:
        return (now - timedelta(seconds=seconds(text))).isoformat()
    except (argparse.ArgumentTypeError, OverflowError):
        raise argparse.ArgumentTypeError(f"{text!r} is no time: write 24h, 2d, yesterday, or 2026-11-23T10:00:00Z") from None
