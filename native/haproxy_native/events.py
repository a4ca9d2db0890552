"""Events as plain values, for counters and traces: published when something is over, without blocking it.

Seconds are durations. A listener that fails is logged and asked again the next time.
"""

import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Validated:
    """HAProxy was asked about a text: accepted, refused, or impossible where nobody could say."""

    outcome: str
    seconds: float


@dataclass(frozen=True)
class Committed:
    """A change was committed: live, scheduled, reloaded (forced), written where nothing was to reach the process, runtime where the
    running process alone was changed, or failed.
    """

    outcome: str
    seconds: float


@dataclass(frozen=True)
class ChangedLive:
    """Runtime commands that HAProxy took, as they were sent."""

    commands: Sequence[str]


@dataclass(frozen=True)
class Reloaded:
    """succeeded or failed; `keywords` of the lines that made it necessary, empty for a reason that is no line."""

    id: str
    outcome: str
    seconds: float
    keywords: Sequence[str] = ()


Event = Validated | Committed | ChangedLive | Reloaded
Listener = Callable[[Event], None]


class Events:
    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def tell(self, event: Event) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("%s was not taken", type(event).__name__)
