"""Parse durations (`1h30m`, `500ms`) and sizes (`1MiB`, `64 kb`) in the command line, the settings file and queries."""

import re

_UNITS = {"ns": 1e-9, "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ms": 1e-3, "s": 1.0, "m": 60.0, "h": 3600.0}
_PART = re.compile(r"([0-9]+\.?[0-9]*|\.[0-9]+)(ns|us|µs|μs|ms|s|m|h)")
_NUMBER = re.compile(r"[0-9]{1,12}(?:\.[0-9]{1,12})?")
_SIZE = re.compile(r"([0-9]+(?:\.[0-9]+)?) ?(?:([kmgtp])?i?b?)", re.IGNORECASE)
# As in the Data Plane API, IEC suffixes are decimal: 1MiB is 1,000,000 bytes.
_POWERS = {"": 0, "k": 1, "m": 2, "g": 3, "t": 4, "p": 5}


def duration(text: str) -> float:
    """Parse a duration and return its seconds. Raises ValueError."""
    text = text.strip()
    if text == "0":
        return 0.0
    parts = _PART.findall(text)
    if not parts or "".join(number + unit for number, unit in parts) != text:
        raise ValueError(f"{text!r} is not a duration such as 10s, 500ms or 1h30m")
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def seconds(text: str) -> float:
    """Parse a duration and return its seconds. A number without a unit is in seconds, unlike in `duration`. Raises ValueError."""
    return float(text) if _NUMBER.fullmatch(text) else duration(text[:100])


def size(text: str) -> int:
    """Parse a size and return its bytes. Raises ValueError."""
    match = _SIZE.fullmatch(text.strip())
    if match is None:
        raise ValueError(f"{text!r} is not a size such as 512, 64KB or 1MiB")
    return int(float(match[1]) * 1000 ** _POWERS[(match[2] or "").lower()])
