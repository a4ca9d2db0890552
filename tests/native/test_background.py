"""Run work in the background of the task that has started it."""

import asyncio
import logging

import pytest

from haproxy_native.background import Background


def test_it_is_stopped_with_what_it_cleans_up(caplog: pytest.LogCaptureFixture) -> None:
    done: list[str] = []

    async def lasting(name: str) -> None:
        try:
            await asyncio.sleep(1000)
        finally:
            await asyncio.sleep(0.01)
            done.append(name)

    async def failing() -> None:
        raise ValueError("cause")

    async def work() -> None:
        background = Background("the work")
        await background.stop()
        background.begin(failing())
        for name in "ab":
            background.begin(lasting(name))
        await asyncio.sleep(0.01)
        await background.stop()
        assert sorted(done) == ["a", "b"]

    with caplog.at_level(logging.ERROR):
        asyncio.run(work())
    assert [record.getMessage() for record in caplog.records] == ["the work failed unexpectedly"]
    assert "cause" in caplog.text
