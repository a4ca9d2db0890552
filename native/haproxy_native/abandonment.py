"""Stop computations whose result is no longer needed.

A request that changes nothing is abandoned when its client disconnects. Its task is cancelled, but a thread cannot be: a computation that
the task runs in a thread stops at its next `check`. Long computations call `check` between their pieces. In a computation that cannot be
abandoned, `check` does nothing.

Tasks that this task creates are not abandoned, since several requests may wait for them. asyncio copies context variables into each new
task, so `_waiting` also stores the task that it was set for, and is ignored in all others. In a thread that computes for that task, the
stored task is None, which the event loop's tasks never match.
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


def run_abandonable(caller: Waiting | None, work: Callable[[], Result]) -> Result:
    """Call `work` in a thread, and return its result. Once `caller` has left, the next `check` in `work` raises Abandoned.

    With None, `work` cannot be abandoned. Raises what `work` raises.
    """
    _waiting.set((caller, None) if caller else None)
    check()
    return work()


def check() -> None:
    """Raise Abandoned if this is a thread, and nobody waits for its result any more."""
    caller, task = _waiting.get() or (None, None)
    if caller and task is None and caller.left.is_set():
        raise Abandoned
