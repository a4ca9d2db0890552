"""Ends work without side effects when its client disconnects: the task is cancelled, and its computations in threads end."""

import asyncio
from collections.abc import Awaitable
from typing import TypeVar

from starlette.types import Scope

from dataplaneapi.api.errors import ApiError
from haproxy_native.abandonment import abandonable
from haproxy_native.shares import Caller

Result = TypeVar("Result")
# Where a connection finds what to call when its client has left (dataplaneapi.server.protocol).
HOOK = "when_gone"


async def while_there(scope: Scope, work: Awaitable[Result]) -> Result:
    """Return the result of the work, which ends when the client of this request disconnects first. Raises what the work does."""
    task = asyncio.current_task()
    assert task
    with abandonable(Caller.of(scope.get("author"))) as flag:

        def leave() -> None:
            # A second cancellation would interrupt the cleanup that the first one has started.
            if not flag.is_set():
                flag.set()
                task.cancel()

        scope[HOOK] = leave
        try:
            return await work
        except asyncio.CancelledError:
            if not flag.is_set() or task.uncancel():
                raise
        finally:
            scope.pop(HOOK, None)
    raise ApiError(400, "the client went away before its answer was ready")
