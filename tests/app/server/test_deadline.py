"""One timer that is moved."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
import uvloop

from dataplaneapi.server.protocol import Deadline


def run(story: Callable[[Deadline, list[str]], Awaitable[None]]) -> list[str]:
    called: list[str] = []

    async def whole() -> None:
        deadline = Deadline(asyncio.get_running_loop())
        await story(deadline, called)
        deadline.end()

    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        runner.run(asyncio.wait_for(whole(), 60))
    return called


async def until(called: list[str], name: str) -> None:
    while name not in called:
        await asyncio.sleep(0.01)


@pytest.mark.parametrize(("first", "second"), [(0.01, 0.1), (50.0, 0.05), (0.05, 0.05)], ids=["later", "sooner", "alike"])
def test_only_the_last_action_is_called(first: float, second: float) -> None:
    async def story(deadline: Deadline, called: list[str]) -> None:
        deadline.within(first, lambda: called.append("first"))
        deadline.within(second, lambda: called.append("second"))
        await until(called, "second")

    assert run(story) == ["second"]


def test_what_is_cleared_is_never_called() -> None:
    async def story(deadline: Deadline, called: list[str]) -> None:
        deadline.within(0.01, lambda: called.append("cleared"))
        deadline.clear()
        await asyncio.sleep(0.05)
        deadline.within(0.01, lambda: called.append("never"))
        deadline.within(0, lambda: called.append("no deadline"))
        await asyncio.sleep(0.05)
        deadline.within(0.01, lambda: called.append("ended"))
        deadline.end()
        await asyncio.sleep(0.05)

    assert run(story) == []


def test_an_action_may_set_the_next() -> None:
    async def story(deadline: Deadline, called: list[str]) -> None:
        def first() -> None:
            called.append("first")
            deadline.within(0.01, lambda: called.append("second"))

        deadline.within(0.01, first)
        await until(called, "second")

    assert run(story) == ["first", "second"]
