"""`open` for scripts without an event loop: the same objects, with calls that block until they have a result.

The event loop runs in a separate thread until the end of the `with` block. The types are in the stub `blocking.pyi`, which is generated
from the modules of this package (openapi/blocking.py).
"""

import asyncio
import functools
import inspect
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from contextlib import AbstractAsyncContextManager, contextmanager
from threading import Thread
from typing import Any

from haproxy_native.objects import haproxy
from haproxy_native.objects.running import Running, Server, StickTable, StickTables
from haproxy_native.objects.stored import Certificates, Map, Maps

# Runs a coroutine in the event loop, and returns its result.
Wait = Callable[[Any], Any]
# The classes with asynchronous methods, whose objects are wrapped in `Blocking`.
CALLED = (haproxy.HAProxy, Running, Server, StickTables, StickTable, Maps, Map, Certificates)


class Blocking:
    """A blocking proxy for an asynchronous object, for other threads than that of the event loop."""

    def __init__(self, own: Any, wait: Wait) -> None:
        self._own, self._wait = own, wait

    def __getattr__(self, name: str) -> Any:
        return result(getattr(self._own, name), self._wait)

    def __getitem__(self, name: str) -> Any:
        return result(self._own[name], self._wait)

    def __dir__(self) -> list[str]:
        return dir(self._own)

    def __repr__(self) -> str:
        return repr(self._own)


def result(value: Any, wait: Wait) -> Any:
    """Convert a value for use in other threads: await a coroutine, and wrap methods, context managers and asynchronous objects."""
    if isinstance(value, CALLED):
        return Blocking(value, wait)
    if inspect.iscoroutine(value):
        return result(wait(value), wait)
    if isinstance(value, AbstractAsyncContextManager):
        return _entered(value, wait)
    if inspect.ismethod(value):
        return functools.wraps(value)(lambda *args, **options: result(value(*args, **options), wait))
    return value


@contextmanager
def _entered(manager: AbstractAsyncContextManager[Any], wait: Wait) -> Iterator[Any]:
    value = result(wait(manager.__aenter__()), wait)
    try:
        yield value
    except BaseException as error:
        if not wait(manager.__aexit__(type(error), error, error.__traceback__)):
            raise
    else:
        wait(manager.__aexit__(None, None, None))


@contextmanager
def _event_loop() -> Iterator[Wait]:
    """Yield a function that runs a coroutine in an event loop, and returns the result. The event loop runs in another thread."""
    begun = Future[tuple[asyncio.AbstractEventLoop, asyncio.Event]]()

    async def run() -> None:
        begun.set_result((asyncio.get_running_loop(), ended := asyncio.Event()))
        await ended.wait()

    thread = Thread(target=lambda: asyncio.run(run()), name="haproxy_native", daemon=True)
    thread.start()
    loop, ended = begun.result()
    try:
        yield lambda work: asyncio.run_coroutine_threadsafe(work, loop).result()
    finally:
        loop.call_soon_threadsafe(ended.set)
        thread.join()


@contextmanager
def open_sync(*args: Any, **options: Any) -> Iterator[Blocking]:
    """Open a configuration file and its HAProxy as `open` does, with the same arguments, for scripts without an event loop."""
    with _event_loop() as wait, _entered(haproxy.open(*args, **options), wait) as own:
        yield own
