"""Wait for another process or thread.

The pause between polls grows with the time of waiting. Short waits therefore end soon, and long waits need few polls.
"""

import time
from collections.abc import Callable, Iterator

SHORTEST, LONGEST = 0.02, 0.25


def polls(what: object = "", *, seconds: float = 120, shortest: float = SHORTEST) -> Iterator[None]:
    """Yield once for each poll. A pause is a tenth of the time of waiting. Raise AssertionError with `what` after `seconds`."""
    began = time.monotonic()
    while True:
        yield
        waited = time.monotonic() - began
        assert waited < seconds, what
        time.sleep(min(max(shortest, waited / 10), LONGEST))


def until(condition: Callable[[], bool], what: str = "", *, seconds: float = 120) -> None:
    """Return once the condition is true. Raise AssertionError with `what` after `seconds`."""
    for _ in polls(what, seconds=seconds):
        if condition():
            return
