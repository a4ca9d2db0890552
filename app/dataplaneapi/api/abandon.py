"""Ends work without side effects when its client disconnects: the task is cancelled, and its computations in threads end."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.exchange import Exchange
from haproxy_native.abandonment import abandonable
from haproxy_native.shares import Caller

Result = TypeVar("Result")


async def while_there(exchange: Exchange, work: Awaitable[Result]) -> Result:
    """Return the result of the work, which ends when the client of this request disconnects first. Raises what the work does."""
    task = asyncio.current_task()
    assert task
    with abandonable(Caller.of(exchange.author)) as flag:

        def leave() -> None:
            # A second cancellation would interrupt the cleanup that the first one has started.
            if not flag.is_set():
                flag.set()
                task.cancel()

        exchange.when_gone = leave
        try:
            return await work
        except asyncio.CancelledError:
            if not flag.is_set() or task.uncancel():
                raise
        finally:
            exchange.when_gone = None
    raise ApiError(400, "the client went away before its answer was ready")
