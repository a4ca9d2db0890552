"""Ends computations whose result nobody waits for any more.

A request that changes nothing is abandoned when its client leaves: its task is cancelled, and what that task has running in a thread ends
at the next `check`, which long computations call between their pieces. Anywhere else `check` does nothing. What other tasks compute, such
as what several requests wait for, goes on, unless they are made by `create_task`.
"""

import asyncio
import threading
from collections.abc import Callable, Coroutine, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

Result = TypeVar("Result")
_request: ContextVar[tuple[threading.Event, asyncio.Task[Any] | None] | None] = ContextVar("request", default=None)
_flag: ContextVar[threading.Event | None] = ContextVar("abandoned", default=None)


class Abandoned(Exception):
    """Nobody waits for the result."""


@contextmanager
def abandonable() -> Iterator[threading.Event]:
    """Return the flag that is set when the present task is abandoned."""
    event = threading.Event()
    token = _request.set((event, asyncio.current_task()))
    try:
        yield event
    finally:
        _request.reset(token)


def flag() -> threading.Event | None:
    """Return the flag of the present task; None where it cannot be abandoned."""
    event, task = _request.get() or (None, None)
    return event if task is asyncio.current_task() else None


def create_task(work: Coroutine[Any, Any, Result]) -> asyncio.Task[Result]:
    """Create a task that only the present task waits for: its computations end with those of the present task."""
    event = flag()

    async def run() -> Result:
        if event:
            _request.set((event, asyncio.current_task()))
        return await work

    return asyncio.create_task(run())


def checked(event: threading.Event, work: Callable[[], Result]) -> Result:
    """Return the result of work that this flag ends. Raises Abandoned and what the work raises."""
    _flag.set(event)
    check()
    return work()


def check() -> None:
    """Raise Abandoned where nobody waits for the result of the present computation."""
    if (event := _flag.get()) is not None and event.is_set():
        raise Abandoned
