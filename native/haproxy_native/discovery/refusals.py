"""Remembers what HAProxy refuses: it is logged at each poll, and retried with growing delays while the source asks for the same."""

import time
from collections.abc import Callable
from dataclasses import dataclass

from haproxy_native.discovery.backends import DesiredBackend
from haproxy_native.discovery.backoff import until_retry


@dataclass(frozen=True)
class Refusal:
    """`times` in a row; it is not tried again until then, as the clock tells."""

    wish: DesiredBackend
    text: str
    times: int
    until: float


class Refusals:
    """Refusals by backend; `clock` in seconds."""

    def __init__(self, clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._known: dict[str, Refusal] = {}

    def holds(self, wish: DesiredBackend) -> str:
        """Why it was refused, while it is not to be tried; else empty."""
        known = self._known.get(wish.name)
        return known.text if known and known.wish.means(wish) and self._clock() < known.until else ""

    def note(self, wish: DesiredBackend, text: str, interval: float) -> None:
        known = self._known.get(wish.name)
        times = known.times + 1 if known and known.wish.means(wish) else 1
        self._known[wish.name] = Refusal(wish, text, times, self._clock() + until_retry(interval, times))

    def settle(self, wish: DesiredBackend) -> None:
        """It was taken."""
        self._known.pop(wish.name, None)
