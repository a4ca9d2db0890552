"""Waiting for what happens elsewhere."""

import time
from collections.abc import Callable


def until(condition: Callable[[], bool], what: str = "", *, seconds: float = 120) -> None:
    """Returns once the condition holds. Raises AssertionError with `what` after so many seconds."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)
