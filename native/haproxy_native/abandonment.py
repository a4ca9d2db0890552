"""Stop computations whose result is no longer needed.

A request that changes nothing is abandoned when its client disconnects. Its task is cancelled, but a thread cannot be: a computation that
the task runs in a thread stops at its next `check`. Long computations call `check` between their pieces. In a computation that cannot be
abandoned, `check` does nothing.

Tasks that this task creates are not abandoned, since several requests may wait for them. asyncio copies context variables into each new
task, so `_waiting` also stores the task that it was set for, and is ignored in all others.
"""

import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from haproxy_native.shares import Account

Result = TypeVar("Result")
_waiting: ContextVar[tuple["Waiting", asyncio.Task[Any] | None] | None] = ContextVar("waiting", default=None)
_flag: ContextVar[threading.Event | None] = ContextVar("abandoned", default=None)


class Abandoned(Exception):
    """The computation was stopped because nobody waits for its result."""


@dataclass(frozen=True)
class Waiting:
    """The caller that waits for the result of a task."""

    caller: Account
    # Set when the caller has disconnected.
    left: threading.Event


@contextmanager
def abandonable(caller: Account) -> Iterator[threading.Event]:
    """Mark the current task as abandonable while the body runs, and yield its flag. `caller`: who waits for the task's result.

    Once the flag is set, computations that the task runs in a thread stop at their next `check`.
    """
    waiting = Waiting(caller, threading.Event())
    token = _waiting.set((waiting, asyncio.current_task()))
    try:
        yield waiting.left
    finally:
        _waiting.reset(token)


def waiting() -> Waiting | None:
    """Return who waits for the current task; None if the task cannot be abandoned."""
    who, task = _waiting.get() or (None, None)
    return who if task is asyncio.current_task() else None


def run_abandonable(event: threading.Event, work: Callable[[], Result]) -> Result:
    """Call `work` and return its result. Once `event` is set, the next `check` in `work` raises Abandoned. Raises what `work` raises."""
    _flag.set(event)
    check()
    return work()


def check() -> None:
    """Raise Abandoned if nobody waits for the result of the current computation."""
    if (event := _flag.get()) is not None and event.is_set():
        raise Abandoned
