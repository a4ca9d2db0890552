"""Cancels work without side effects when its client disconnects."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from starlette.types import Receive

from dataplaneapi.api.errors import ApiError

Result = TypeVar("Result")


async def while_there(receive: Receive | None, work: Coroutine[Any, Any, Result]) -> Result:
    """The result of the work, cancelled when the client, whose body is here, disconnects first. Raises what the work does."""
    if receive is None:
        return await work
    task, leaving = asyncio.ensure_future(work), asyncio.ensure_future(_gone(receive))
    try:
        await asyncio.wait((task, leaving), return_when=asyncio.FIRST_COMPLETED)
        if task.done():
            return task.result()
    finally:
        for pending in (task, leaving):
            pending.cancel()
        await asyncio.wait((task, leaving))
    raise ApiError(400, "the client went away before its answer was ready")


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
