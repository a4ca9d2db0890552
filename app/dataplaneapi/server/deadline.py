"""The one timer of a connection; it is moved from state to state rather than replaced, as most states end long before their time."""

import asyncio
from collections.abc import Callable


class Deadline:
    """A timer with at most one pending action; setting another replaces it."""

    __slots__ = ("_action", "_due", "_loop", "_timer")

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._due: float | None = None
        self._action: Callable[[], object] = _nothing
        self._timer: asyncio.TimerHandle | None = None

    def within(self, seconds: float, action: Callable[[], object]) -> None:
        """Calls `action` after so many seconds; 0 for never."""
        if not seconds:
            self.clear()
            return
        self._due, self._action = self._loop.time() + seconds, action
        if self._timer is None:
            self._timer = self._loop.call_at(self._due, self._fired)
        elif self._due < self._timer.when():
            self._timer.cancel()
            self._timer = self._loop.call_at(self._due, self._fired)

    def clear(self) -> None:
        """Nothing is pending any more."""
        self._due, self._action = None, _nothing

    def end(self) -> None:
        """Clears the timer for good."""
        self.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _fired(self) -> None:
        self._timer = None
        if self._due is None:
            return
        if self._due > self._loop.time():
            self._timer = self._loop.call_at(self._due, self._fired)
            return
        action = self._action
        self.clear()
        action()


def _nothing() -> None:
    return None
