"""Runs long computations in threads, so that the event loop serves other requests meanwhile.

A thread releases the interpreter after SWITCH_SECONDS, but never within one call of C code: such work is done in pieces. Nor does it within
a garbage collection, which takes long among the objects that such a computation makes: `tune_interpreter` makes collections rare.

Requests that change nothing share a pool of threads (native/haproxy_native/shares.py): limited callers leave a thread to callers with all
rights and to changes. Their computations end when they are abandoned (native/haproxy_native/abandonment.py).
"""

import asyncio
import contextlib
import contextvars
import gc
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from haproxy_native import abandonment
from haproxy_native.shares import Turns, turns

# Threads share one interpreter: more of them would not be faster, and the event loop would wait for each.
THREADS = 2
SWITCH_SECONDS = 0.001
# New objects before a collection of the youngest, and collections before one of the next generation. Measured on two busy cores with eight
# reads of 100,000 servers (5 MB) in a thread: Python's 700, 10, 10 holds the event loop up for 1.1 s at most and takes 16 s in all, these
# values 0.1 s and 7 s, no collection at all 0.1 s and 5 s. With 5,000 servers nothing differs. The start takes 0.1 s longer than without.
COLLECTIONS = (10_000, 10, 200)
# Characters, bytes or values that take a millisecond or more.
LARGE = 1 << 16
# The share of the event loop's time that unhurried work takes.
UNHURRIED = 0.1


class HasSize(Protocol):
    """A document; `size` is its number of characters."""

    @property
    def size(self) -> int: ...


Given = ParamSpec("Given")
Result = TypeVar("Result")

_threads = ThreadPoolExecutor(THREADS, "computation")


def _reset_threads() -> None:
    """Make new threads in a forked process, which has none of its parent's."""
    global _threads
    _threads = ThreadPoolExecutor(THREADS, "computation")


os.register_at_fork(after_in_child=_reset_threads)


def tune_interpreter() -> None:
    """Set the thread switching and the garbage collection of the whole process, so that the event loop answers in time."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECTIONS)


async def run_in_thread(work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Run a function in a thread and return its result. Raise what it raises.

    Cancelling the caller does not stop a function that has begun: it runs to its end. In a request that changes nothing it stops at its
    next `abandonment.check` once that request is abandoned.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    call = partial(_contained, partial(work, *given, **named))
    if (waiting := abandonment.waiting()) is None:
        return await loop.run_in_executor(_threads, context.run, call)
    pool = computations()
    place = await pool.take(waiting.caller)
    running = _threads.submit(context.run, abandonment.checked, waiting.left, call)
    # A thread that nobody waits for any more holds its place until it has ended.
    running.add_done_callback(lambda _: _in_loop(loop, partial(pool.release, place)))
    return await asyncio.wrap_future(running)


def _contained(call: Callable[[], Result]) -> Result:
    """Return what a call returns. Raise RuntimeError instead of StopIteration, which no future can hold: its awaiter would never wake."""
    try:
        return call()
    except StopIteration as error:
        raise RuntimeError("a computation raised StopIteration") from error


def computations() -> Turns:
    """Return the pool of threads that requests which change nothing share. Any number may wait, since the number of requests is limited."""
    return turns("computations", THREADS, most_waiting=sys.maxsize)


def _in_loop(loop: asyncio.AbstractEventLoop, action: Callable[[], None]) -> None:
    with contextlib.suppress(RuntimeError):
        loop.call_soon_threadsafe(action)


async def run_in_thread_if(large: bool, work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Run the work as `run_in_thread` does if it is large, else directly."""
    return await run_in_thread(work, *given, **named) if large else work(*given, **named)


async def run_in_thread_if_large(
    documents: Iterable[HasSize], work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
) -> Result:
    """Run work on documents as `run_in_thread` does if one of them is large, else directly, since a thread costs more than the work."""
    return await run_in_thread_if(any(document.size > LARGE for document in documents), work, *given, **named)


async def unhurried(pieces: Iterable[Result]) -> AsyncIterator[Result]:
    """Yield one piece of work after another, made in the event loop, with pauses, so that they take a tenth of its time.

    This is for work that nobody waits for. In a thread it would take the interpreter for a millisecond whenever a request releases it, some
    twenty times in a change.
    """
    began = time.thread_time()
    for piece in pieces:
        took = time.thread_time() - began
        yield piece
        await asyncio.sleep(took / UNHURRIED)
        began = time.thread_time()


def lines_in_pieces(text: str, size: int = LARGE // 2) -> Iterator[str]:
    """Yield a text in pieces of whole lines, of about `size` characters."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + size) + 1 or len(text)
        yield text[start:end]
        start = end
