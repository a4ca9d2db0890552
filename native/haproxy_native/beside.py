"""Runs long computations in threads, so that the event loop serves other requests meanwhile.

A thread hands the interpreter on after SWITCH_SECONDS, but never within one call of C code: such work is done in pieces. Nor within a
collection of garbage, which takes long among the objects that such a computation makes: none begins while one is under way.
"""

import asyncio
import contextlib
import contextvars
import gc
import os
import sys
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import ParamSpec, TypeVar

# They share one interpreter: more of them would not be quicker, and the loop would wait for each.
THREADS = 2
SWITCH_SECONDS = 0.001
# How often garbage in cycles is looked for among all objects.
UNFROZEN_SECONDS = 600.0
# Objects that are new after a computation and are looked at by the next collection: milliseconds.
MOST_COLLECTED = 20_000
# Characters, bytes or values that take a millisecond or more.
LARGE = 1 << 16
Given = ParamSpec("Given")
Result = TypeVar("Result")

_threads = ThreadPoolExecutor(THREADS, "beside")


def _anew() -> None:
    """Resets the threads in a forked process, which has none of its parent's."""
    global _threads, _uncollected
    _threads, _uncollected = ThreadPoolExecutor(THREADS, "beside"), _Uncollected()


os.register_at_fork(after_in_child=_anew)


def hand_on_often() -> None:
    """Switches threads after SWITCH_SECONDS, for the whole process."""
    sys.setswitchinterval(SWITCH_SECONDS)


class _Uncollected(contextlib.ContextDecorator):
    """No garbage is collected while any thread has entered it."""

    def __init__(self) -> None:
        self._lock, self._entered, self._was_enabled = threading.Lock(), 0, False
        self._unfrozen, self._is_thawed = time.monotonic(), True

    def __enter__(self) -> None:
        with self._lock:
            if not self._entered:
                self._was_enabled = gc.isenabled()
                gc.disable()
            self._entered += 1

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._entered -= 1
            if not self._entered and self._was_enabled:
                # What stays of a large computation is looked at once in a while only: a collection among it holds everyone up. What is
                # frozen, garbage included, takes its memory until then, so that the many small ones freeze nothing.
                if (now := time.monotonic()) - self._unfrozen >= UNFROZEN_SECONDS:
                    gc.unfreeze()
                    self._unfrozen, self._is_thawed = now, True
                elif self._is_thawed or gc.get_count()[0] > MOST_COLLECTED:
                    gc.freeze()
                    self._is_thawed = False
                gc.enable()


_uncollected = _Uncollected()


async def beside(work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """The result of a function that is run in a thread; raises what it raises. Once begun it goes on to its end."""
    call = partial(contextvars.copy_context().run, _uncollected(partial(work, *given, **named)))
    return await asyncio.get_running_loop().run_in_executor(_threads, call)


async def beside_if(large: bool, work: Callable[Given, Result], *given: Given.args, **named: Given.kwargs) -> Result:
    """Runs the work as `beside` does if it is large, else directly."""
    return await beside(work, *given, **named) if large else work(*given, **named)
