"""Limit the log lines that unauthenticated clients can cause."""

import logging
import time
from collections.abc import Callable


class Rate:
    """A limit for repeated log lines: of each line, at most `most` in `seconds`."""

    def __init__(self, most: int = 10, seconds: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        self._most, self._seconds, self._clock = most, seconds, clock
        self._periods: dict[str, tuple[float, int]] = {}

    def left_out(self, line: str) -> int | None:
        """Count a line. Return None if the line exceeds the limit and must be dropped.

        Otherwise return how many equal lines were dropped in the preceding period. The result can be above 0 only for the first line of a
        period.
        """
        now = self._clock()
        begin, count = self._periods.get(line, (now, 0))
        left_out = 0
        if now - begin >= self._seconds:
            left_out, begin, count = max(0, count - self._most), now, 0
        self._periods[line] = begin, count + 1
        return None if count >= self._most else left_out


class RateLimit(logging.Filter):
    """A logging filter that passes at most `most` equal messages in `seconds`. A later record reports how many messages were dropped."""

    def __init__(self, most: int = 10, seconds: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._rate = Rate(most, seconds, clock)

    def filter(self, record: logging.LogRecord) -> bool:
        left_out = self._rate.left_out(str(record.msg))
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more since the last such line)", ()
        return left_out is not None
