"""Count what a call does instead of the time that it takes: the count is the same on any machine, under any load.

Only lines of Python count. For what a search or a loop in C does, a test takes so much text that anything but linear time
would take hours, and the limit of pytest-timeout ends it.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(work: Callable[[], object]) -> int:
    """Return how many lines of Python this call runs, each pass through a loop counted."""
    count = 0

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal count
        count += event == "line"
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        work()
    finally:
        sys.settrace(before)
    return count


def is_linear(work: Callable[[int], Callable[[], object]], size: int) -> bool:
    """Return whether eight times the size takes eight times the steps, or little more. `work` prepares the call, which alone counts."""
    return steps(work(8 * size)) < 12 * steps(work(size))
