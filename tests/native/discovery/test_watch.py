"""Blocking queries of agents of every kind: that block, that do not, that have nothing to tell, that go away."""

import asyncio

import pytest

from haproxy_native.discovery import consul
from haproxy_native.discovery.consul import BlockingQueries
from haproxy_native.discovery.poller import SourceFailed

LONG = 30.0


class Agent:
    """Answers with its `index` at once, or when it `blocks` as soon as that is another one than the one that is known."""

    def __init__(self, index: str = "7", *, blocks: bool = True) -> None:
        self.index, self.blocks, self.away, self.asked = index, blocks, False, 0

    async def ask(self, path: str, known: str) -> str:
        assert path == "/one"
        self.asked += 1
        while self.blocks and known and known == self.index and not self.away:
            await asyncio.sleep(0.005)
        if self.away:
            raise SourceFailed("away")
        return self.index


def watching(agent: Agent, work) -> None:
    async def run() -> None:
        watched = BlockingQueries(agent.ask, ["/one"], 0.01)
        try:
            async with asyncio.timeout(LONG):
                await work(watched)
        finally:
            await watched.stop()

    asyncio.run(run())


async def is_changed(watched: BlockingQueries, seconds: float = LONG) -> bool:
    began = asyncio.get_running_loop().time()
    await watched.wait_for_change(seconds)
    return asyncio.get_running_loop().time() - began < seconds


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(consul, "BETWEEN", 0.01)


def test_a_change_is_told_once() -> None:
    agent = Agent()

    async def work(watched: BlockingQueries) -> None:
        assert await is_changed(watched), "it is not known what was before the first answer"
        assert not await is_changed(watched, 0.1)
        for agent.index in ("8", "9", "2"):
            assert await is_changed(watched)
        assert not await is_changed(watched, 0.1)

    watching(agent, work)


@pytest.mark.parametrize(("index", "first"), [("7", True), ("", False)])
def test_an_agent_that_does_not_block_is_left_alone(index: str, first: bool) -> None:
    agent = Agent(index, blocks=False)

    async def work(watched: BlockingQueries) -> None:
        assert await is_changed(watched, 0.2) == first
        assert not await is_changed(watched, 0.2)
        assert agent.asked == 1 + first

    watching(agent, work)


def test_that_an_agent_answers_again_is_a_change() -> None:
    agent = Agent()

    async def work(watched: BlockingQueries) -> None:
        assert await is_changed(watched)
        agent.away = True
        while agent.asked < 5:
            assert not await is_changed(watched, 0.05)
        agent.away = False
        assert await is_changed(watched)

    watching(agent, work)
