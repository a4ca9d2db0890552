"""Limits the log lines that unauthenticated clients can cause."""

import logging
import time
from collections.abc import Callable


class RateLimit(logging.Filter):
    """Lets so many records of each line through in so many seconds; the first of the next period says how many were left out."""

    def __init__(self, most: int = 10, seconds: float = 10.0, clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__()
        self._most, self._seconds, self._clock = most, seconds, clock
        self._periods: dict[str, list[float]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        line, now = str(record.msg), self._clock()
        begin, count = self._periods.get(line, (now, 0))
        left_out = 0
        if now - begin >= self._seconds:
            left_out, begin, count = max(0, int(count) - self._most), now, 0
        self._periods[line] = [begin, count + 1]
        if count >= self._most:
            return False
        if left_out:
            record.msg, record.args = f"{record.getMessage()} (and {left_out} more since the last such line)", ()
        return True
