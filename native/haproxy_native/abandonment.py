"""Ends computations whose result nobody waits for any more.

A request that changes nothing is abandoned when its client leaves: its task is cancelled, and a computation that this task runs in a thread
ends at its next `check`, which long computations call between their pieces. Anywhere else `check` does nothing. Other tasks, such as those
that several requests wait for, continue, unless they were made by `create_task`.

The context variable names the task that it belongs to: no other task inherits anything from it.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from typing import Any, TypeVar

from haproxy_native.shares import Account

Result = TypeVar("Result")
_waiting: ContextVar[tuple["Waiting", asyncio.Task[Any] | None] | None] = ContextVar("waiting", default=None)
_flag: ContextVar[threading.Event | None] = ContextVar("abandoned", default=None)


class Abandoned(Exception):
    """Nobody waits for the result."""


@dataclass(frozen=True)
class Waiting:
    """The caller that waits for the result of a task, until it has `left`."""

    caller: Account
    left: threading.Event


@contextmanager
def abandonable(caller: Account) -> Iterator[threading.Event]:
    """Yield the flag that is set when the present task, whose result a caller waits for, is abandoned."""
    waiting = Waiting(caller, threading.Event())
    token = _waiting.set((waiting, asyncio.current_task()))
    try:
        yield waiting.left
    finally:
        _waiting.reset(token)


def waiting() -> Waiting | None:
    """Return who waits for the present task; None if it cannot be abandoned."""
    found, task = _waiting.get() or (None, None)
    return found if task is asyncio.current_task() else None


def create_task(work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    """Create a task that only the present task waits for: its computations end with those of the present task."""
    found = waiting()

    async def run() -> Result:
        if found:
            _waiting.set((found, asyncio.current_task()))
        return await work

    return asyncio.create_task(run())


def checked(event: threading.Event, work: Callable[[], Result]) -> Result:
    """Return the result of work that ends at its next `check` once the flag is set. Raises Abandoned and what the work raises."""
    _flag.set(event)
    check()
    return work()


def check() -> None:
    """Raise Abandoned if nobody waits for the result of the present computation."""
    if (event := _flag.get()) is not None and event.is_set():
        raise Abandoned
