"""Run long computations in threads, so that the event loop serves other requests meanwhile.

A thread releases the interpreter after SWITCH_SECONDS, but not within one call of C code. So callers split such work into pieces. A thread
does not release it during a garbage collection either, which takes long if a computation has made many objects. So `tune_interpreter` makes
collections rare.

Requests that change nothing share a pool of threads (native/haproxy_native/shares.py), in which limited callers leave one thread to callers
with all rights and to changes. Their computations stop when they are abandoned (native/haproxy_native/abandonment.py).
"""

import asyncio
import contextlib
import contextvars
import gc
import os
import sys
import time
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, Protocol, TypeVar

from haproxy_native import abandonment
from haproxy_native.shares import Turns, turns

# Threads share one interpreter: more of them would not be faster, and the event loop would wait for each.
THREADS = 2
SWITCH_SECONDS = 0.001
# The arguments of `gc.set_threshold`. Measured on two busy cores with eight reads of 100,000 servers (5 MB) in a thread: Python's 700, 10,
# 10 blocks the event loop for up to 1.1 s and takes 16 s in all; these values 0.1 s and 7 s; no collection at all 0.1 s and 5 s. With 5,000
# servers there is no difference. The start takes 0.1 s longer than without collections.
COLLECTIONS = (10_000, 10, 200)
# The number of characters, bytes or values that take a millisecond or more to process.
LARGE = 1 << 16
# The share of the event loop's time that the work of `with_pauses` takes.
WORKING_SHARE = 0.1


class HasSize(Protocol):
    """A document."""

    @property
    def size(self) -> int:
        """The number of characters."""


Given = ParamSpec("Given")
Result = TypeVar("Result")

_threads = ThreadPoolExecutor(THREADS, "computation")


def _reset_threads() -> None:
    # A forked process does not have its parent's threads.
    global _threads
    _threads = ThreadPoolExecutor(THREADS, "computation")


os.register_at_fork(after_in_child=_reset_threads)


def tune_interpreter() -> None:
    """Set thread switching and garbage collection of the whole process, so that long computations delay the event loop little."""
    sys.setswitchinterval(SWITCH_SECONDS)
    gc.set_threshold(*COLLECTIONS)


async def run_in_thread(work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Run a function in a thread and return its result. Raises what the function raises.

    A function that has begun runs to its end even if the caller is cancelled. The exception is a request that changes nothing: once the
    request is abandoned, the function stops at its next `abandonment.check`.
    """
    loop, context = asyncio.get_running_loop(), contextvars.copy_context()
    call = partial(_contained, partial(work, *given, **named))
    waiting = abandonment.waiting()
    call_in_thread = partial(context.run, abandonment.run_abandonable, waiting, call)
    if waiting is None:
        return await loop.run_in_executor(_threads, call_in_thread)
    pool = computations()
    slot = await pool.acquire(waiting.caller)

    def release_slot(_: Future[Result]) -> None:
        # The loop may be closed by now.
        with contextlib.suppress(RuntimeError):
            loop.call_soon_threadsafe(pool.release, slot)

    running = _threads.submit(call_in_thread)
    # A thread that nobody waits for any more occupies its slot until it has ended.
    running.add_done_callback(release_slot)
    return await asyncio.wrap_future(running)


def _contained(call: Callable[[], Result]) -> Result:
    """Call a function and return its result. Raises RuntimeError for StopIteration, which a future cannot store: its awaiter would hang."""
    try:
        return call()
    except StopIteration as error:
        raise RuntimeError("a computation raised StopIteration") from error


def computations() -> Turns:
    """Return the pool of threads for requests that change nothing. Any number may wait, since the number of requests is limited."""
    return turns("computations", THREADS, most_waiting=sys.maxsize)


async def run_in_thread_if(large: bool, work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Run work in a thread if `large` is true; otherwise run it directly, which blocks. Return the result of the work."""
    return await run_in_thread(work, *given, **named) if large else work(*given, **named)


async def run_in_thread_if_large(
    documents: Iterable[HasSize], work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs
) -> Result:
    """Run work in a thread if one of its documents is large; otherwise run it directly, which is faster but blocks. Return its result."""
    return await run_in_thread_if(any(document.size > LARGE for document in documents), work, *given, **named)


async def with_pauses(pieces: Iterable[Result]) -> AsyncIterator[Result]:
    """Compute pieces of work in the event loop and yield each. Pause after each piece, so that all take a tenth of the loop's time.

    Use it for work that nobody waits for. In a thread, such work would occupy the interpreter for a millisecond whenever a request releases
    it, about twenty times during a change.
    """
    began = time.thread_time()
    for piece in pieces:
        took = time.thread_time() - began
        yield piece
        await asyncio.sleep(took / WORKING_SHARE)
        began = time.thread_time()


def lines_in_pieces(text: str) -> Iterator[str]:
    """Yield a text in pieces of whole lines, of about LARGE / 2 characters."""
    start = 0
    while start < len(text):
        end = text.find("\n", start + LARGE // 2) + 1 or len(text)
        yield text[start:end]
        start = end
