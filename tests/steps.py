"""Count the lines of Python that a call runs, because the number does not depend on the machine and its load, as the time does.

Searches and loops in C are not counted. Tests of them use a text so long that anything but linear time would take hours, and
pytest-timeout would end the test.
"""

import sys
from collections.abc import Callable
from types import FrameType
from typing import Any


def steps(work: Callable[[], object]) -> int:
    """Return how many lines of Python a call runs. A line in a loop counts each time."""
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
    """Return whether a call with eight times the size takes at most twelve times the steps. `work` returns the call for a size."""
    return steps(work(8 * size)) < 12 * steps(work(size))
