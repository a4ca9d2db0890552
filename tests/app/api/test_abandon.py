"""Work without a client ends."""

import asyncio
from typing import Any

import pytest

from dataplaneapi.api.abandon import while_there
from dataplaneapi.api.errors import ApiError


async def never() -> dict[str, Any]:
    await asyncio.Event().wait()
    return {}


async def work(seconds: float, ended: list[str]) -> int:
    try:
        await asyncio.sleep(seconds)
        return 7
    except asyncio.CancelledError:
        ended.append("cancelled")
        raise


def test_the_result_of_the_work() -> None:
    for receive in (never, None):
        assert asyncio.run(while_there(receive, work(0, []))) == 7


def test_errors_of_the_work() -> None:
    async def fails() -> None:
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(while_there(never, fails()))


def test_a_client_that_leaves() -> None:
    messages = [{"type": "http.request"}, {"type": "http.disconnect"}]
    ended: list[str] = []

    async def receive() -> dict[str, Any]:
        await asyncio.sleep(0)
        return messages.pop(0)

    with pytest.raises(ApiError, match="went away"):
        asyncio.run(while_there(receive, work(60, ended)))
    assert ended == ["cancelled"]
