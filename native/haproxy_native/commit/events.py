"""Events as values, for counters, traces and histories: sent to every listener when something is over.

Seconds are durations. A listener that raises is logged, and called again for the next event.
"""

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from haproxy_native.commit.change import Change, Outcome
from haproxy_native.editing.editor import standard_editor
from haproxy_native.planning.effects import Effect, effects
from haproxy_native.request_context import Author
from haproxy_native.runtime.client import Worker
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
# Of `Asked`.
CHANGE, READ, LOGIN = "change", "read", "login"
GRANTED, REFUSED, FAILED, LIMITED = "granted", "refused", "failed", "limited"


@dataclass(frozen=True)
class Validated:
    """HAProxy was asked about a text: accepted, refused, or impossible where there is no verdict."""

    outcome: str
    seconds: float


@dataclass(frozen=True)
class Committed:
    """A change was committed, or failed: live, scheduled, reloaded (forced), written where nothing was to reach the process, runtime where
    the running process alone was changed, or failed.

    `result` is None and `error` what was raised where it failed.
    """

    outcome: str
    seconds: float
    change: Change | None = None
    result: Outcome | None = None
    error: Exception | None = None

    @property
    def effects(self) -> tuple[Effect, ...]:
        """On the objects of the configuration."""
        return self.result.effects if self.result else ()


@dataclass(frozen=True)
class Asked:
    """A request without a commit was answered: GRANTED, REFUSED for `reason`, or FAILED for it; LIMITED is a login among too many.

    `kind`: CHANGE for what changes something, READ, or LOGIN for credentials that were refused; `login` is the name in these.
    """

    author: Author
    outcome: str
    reason: str = ""
    kind: str = CHANGE
    login: str = ""


@dataclass(frozen=True)
class Edited:
    """A file was edited from outside, and its text is the next version. `owner`: the name of the file's owner; empty where it is gone."""

    path: Path
    owner: str
    author: Author
    versions: tuple[int, int]
    texts: tuple[Document, Document]

    @cached_property
    def effects(self) -> tuple[Effect, ...]:
        """On the objects of the configuration, where it is that which was edited; computed when they are first asked for."""
        return effects(standard_editor(), *self.texts)


@dataclass(frozen=True)
class ChangedLive:
    """Runtime commands that HAProxy took, as they were sent."""

    commands: Sequence[str]


@dataclass(frozen=True)
class Forced:
    """The change with this entry of the history is loaded at once, by the reload with this id."""

    entry: int
    reload_id: str


@dataclass(frozen=True)
class Reloaded:
    """succeeded or failed; `keywords` of the lines that made it necessary, empty for a reason that is no line."""

    id: str
    outcome: str
    seconds: float
    keywords: Sequence[str] = ()


@dataclass(frozen=True)
class WorkerChanged:
    """Another worker is in service than before; None if it is not known which."""

    former: Worker | None
    worker: Worker | None


@dataclass(frozen=True)
class Announced:
    """Something that is no part of the configuration has changed. `type` is that of its event, `data` are its members, without secrets."""

    type: str
    object: str
    data: Mapping[str, Any]


Event = Validated | Committed | Asked | Edited | ChangedLive | Forced | Reloaded | WorkerChanged | Announced
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
