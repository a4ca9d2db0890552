"""Who enters, who waits, and who is cut off."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from dataplaneapi.server.hot_swap import Doorway

Log = list[str]


def application(name: str, log: Log, stays: asyncio.Event | None = None) -> Any:
    async def app(scope: Any, receive: Any, send: Any) -> None:
        log.append(f"{name} {scope}")
        try:
            if stays:
                await stays.wait()
        except asyncio.CancelledError:
            log.append(f"{name} {scope} cut off")
            raise

    return app


def run(story: Callable[[Doorway, Callable[[Any], asyncio.Task[None]]], Awaitable[None]]) -> None:
    async def whole() -> None:
        doorway = Doorway()
        await story(doorway, lambda scope: asyncio.ensure_future(doorway(scope, None, None)))  # type: ignore[arg-type]

    asyncio.run(asyncio.wait_for(whole(), 60))


def test_requests_wait_until_it_is_open() -> None:
    log: Log = []

    async def story(doorway: Doorway, enter: Any) -> None:
        early = [enter(1), enter(2)]
        await asyncio.sleep(0)
        assert not log
        doorway.open(application("old", log))
        await asyncio.gather(*early)
        await doorway.close(60)
        late = enter(3)
        await asyncio.sleep(0)
        doorway.open(application("new", log))
        await late
        assert log == ["old 1", "old 2", "new 3"]

    run(story)


def test_who_is_inside_has_time_to_end() -> None:
    log: Log = []

    async def story(doorway: Doorway, enter: Any) -> None:
        stays = asyncio.Event()
        doorway.open(application("old", log, stays))
        inside = enter(1)
        await asyncio.sleep(0)
        closing = asyncio.ensure_future(doorway.close(60))
        await asyncio.sleep(0)
        assert not closing.done()
        stays.set()
        await asyncio.gather(inside, closing)
        assert log == ["old 1"]

    run(story)


def test_who_stays_too_long_is_cut_off() -> None:
    log: Log = []

    async def story(doorway: Doorway, enter: Any) -> None:
        doorway.open(application("old", log, asyncio.Event()))
        inside = enter(1)
        await asyncio.sleep(0)
        await doorway.close(0.01)
        assert inside.cancelled()
        assert log == ["old 1", "old 1 cut off"]

    run(story)
