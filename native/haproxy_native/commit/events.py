"""Define the events of commits, reloads and edits, which counters, traces and the history receive.

`Events` sends each event to all listeners. An event is sent when its action is over. Durations are in seconds.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haproxy_native.commit.change import Change, Outcome, Texts
from haproxy_native.planning.effects import Effect
from haproxy_native.request_context import Author
from haproxy_native.runtime.client import Worker

log = logging.getLogger(__name__)
# The kinds and the outcomes of `RequestAnswered`.
CHANGE, READ, LOGIN = "change", "read", "login"
GRANTED, REFUSED, FAILED, LIMITED = "granted", "refused", "failed", "limited"


@dataclass(frozen=True)
class Validated:
    """HAProxy has checked a text."""

    # "accepted", "refused", or "impossible" if there is no verdict.
    outcome: str
    seconds: float


@dataclass(frozen=True)
class Committed:
    """A change was committed, or has failed."""

    # "live", "scheduled", "reloaded" (a forced reload), "written" (to the file alone), "runtime" (in the process alone), or "failed".
    outcome: str
    seconds: float
    change: Change | None = None
    # None if the commit has failed; `error` then has the exception.
    result: Outcome | None = None
    error: Exception | None = None

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects of the change on the objects of the configuration. Blocks."""
        return self.result.effects if self.result else ()


@dataclass(frozen=True)
class RequestAnswered:
    """A request without a commit was answered."""

    author: Author
    # GRANTED, REFUSED or FAILED; LIMITED for a login that was refused after too many others.
    outcome: str
    # Why the request was refused or has failed.
    reason: str = ""
    # CHANGE for a request that would change something, READ, or LOGIN for credentials that were refused.
    kind: str = CHANGE
    # The name in refused credentials.
    login: str = ""


@dataclass(frozen=True)
class Edited:
    """A file was edited by another process, and its text is the next version."""

    path: Path
    # The name of the file's owner; empty if the file is gone.
    owner: str
    author: Author
    versions: tuple[int, int]
    texts: Texts

    @property
    def effects(self) -> tuple[Effect, ...]:
        """The effects on the objects of the configuration, if that was edited. Blocks."""
        return self.texts.effects


@dataclass(frozen=True)
class ChangedLive:
    """HAProxy has accepted these runtime commands."""

    commands: Sequence[str]


@dataclass(frozen=True)
class Forced:
    """The change with this entry in the history is loaded at once, by the reload with this id."""

    entry: int
    reload_id: str


@dataclass(frozen=True)
class Reloaded:
    """A reload has ended."""

    id: str
    # "succeeded" or "failed".
    outcome: str
    seconds: float
    # The keyword of each line that made the reload necessary, in the order of the reasons; an empty string for a reason without a line.
    keywords: Sequence[str] = ()


@dataclass(frozen=True)
class WorkerChanged:
    """Another worker is in service than before. A worker is None if it is unknown."""

    former: Worker | None
    worker: Worker | None


@dataclass(frozen=True)
class Announced:
    """Something that is not part of the configuration has changed."""

    # The type of its event.
    type: str
    object: str
    # The members of its event, without secrets.
    data: Mapping[str, Any]


Event = Validated | Committed | RequestAnswered | Edited | ChangedLive | Forced | Reloaded | WorkerChanged | Announced
Listener = Callable[[Event], None]


class Events:
    """Sends events to listeners. A listener that raises is logged, and called again for the next event."""

    def __init__(self) -> None:
        self._listeners: list[Listener] = []

    def listen(self, listener: Listener) -> None:
        self._listeners.append(listener)

    def publish(self, event: Event) -> None:
        for listener in self._listeners:
            try:
                listener(event)
            except Exception:
                log.exception("a listener failed on %s", type(event).__name__)
