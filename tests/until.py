"""Waiting for what another process or thread does.

A poll costs both sides a request, so the pause between polls grows with the wait: short waits end at once, long ones cost little.
"""

import time
from collections.abc import Callable, Iterator

SHORTEST, LONGEST = 0.02, 0.25


def polls(what: object = "", *, seconds: float = 120, shortest: float = SHORTEST) -> Iterator[None]:
    """Yield once per poll, with a pause of a tenth of the wait in between. Raise AssertionError with `what` after so many seconds."""
    began = time.monotonic()
    while True:
        yield
        waited = time.monotonic() - began
        assert waited < seconds, what
        time.sleep(min(max(shortest, waited / 10), LONGEST))


def until(condition: Callable[[], bool], what: str = "", *, seconds: float = 120) -> None:
    """Return once the condition holds. Raise AssertionError with `what` after so many seconds."""
    for _ in polls(what, seconds=seconds):
        if condition():
            return
