"""Delays between attempts that may fail. Pure; in seconds."""

LONGEST = 60.0
# Of the time, the part that may go into looking while something changes all the time.
SHARE = 0.1
SHORTEST = 1.0


def until_retry(interval: float, failures: int) -> float:
    """Returns the seconds until a retry: the interval, doubled with each failure but the first up to a minute, never less than the
    interval.
    """
    doubled = interval * 2.0 ** min(max(failures - 1, 0), 16)
    return max(interval, min(doubled, LONGEST))


def rest(interval: float, took: float) -> float:
    """The pause after a poll that took so long, even if there are changes."""
    return min(interval, max(SHORTEST, took / SHARE))
