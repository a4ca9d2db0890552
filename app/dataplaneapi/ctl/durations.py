"""Durations as the API has them: `30s`, `5m`, `2h`; a bare number is seconds."""

import argparse
import re

_UNITS = {"ms": 0.001, "s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0, "": 1.0}


def seconds(text: str) -> float:
    """Raises argparse.ArgumentTypeError, as types of arguments do."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)(ms|s|m|h|d)?", text)
    if not match:
        raise argparse.ArgumentTypeError(f"{text!r} is no duration, such as 30s or 5m")
    return float(match[1]) * _UNITS[match[2] or ""]
