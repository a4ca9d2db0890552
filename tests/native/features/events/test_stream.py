import asyncio
import json

import pytest

from haproxy_native.features.events import stream as streams
from haproxy_native.features.events.stream import BATCH, CONFIG, RELOAD, SERVER, STATS, EventFilter, EventStream, FellBehind, Subscription


def run(work) -> None:
    asyncio.run(work)


async def objects(subscription: Subscription, seconds: float = 0.01) -> list[str]:
    return [json.loads(each.body)["object"] for each in await subscription.read(seconds)]


def test_each_gets_what_it_wants_from_then_on() -> None:
    async def work() -> None:
        stream = EventStream()
        stream.publish(CONFIG, "backend/before", {})
        with stream.subscription(EventFilter()) as every, stream.subscription(EventFilter({CONFIG}, "backend/b*")) as some:
            stream.publish(CONFIG, "backend/b1", {})
            stream.publish(RELOAD, "backend/b2", {})
            stream.publish(CONFIG, "configuration", {}, ["backend/a", "backend/b3/server/s"])
            assert await objects(every) == ["backend/b1", "backend/b2", "configuration"]
            assert await objects(some) == ["backend/b1", "configuration"]
            assert await objects(some) == []

    run(work())


def test_a_reader_that_waits_is_woken() -> None:
    async def work() -> None:
        stream = EventStream()
        with stream.subscription(EventFilter({CONFIG})) as subscription:
            reading = asyncio.create_task(objects(subscription, 30))
            await asyncio.sleep(0)
            stream.publish(RELOAD, "reload/1", {})
            await asyncio.sleep(0.01)
            stream.publish(CONFIG, "backend/b", {})
            assert await reading == ["backend/b"]
            reading = asyncio.create_task(objects(subscription, 30))
            await asyncio.sleep(0)
            stream.close()
            assert await reading == [] and subscription.is_closed

    run(work())


def test_ids_rise_also_over_restarts_and_with_a_clock_that_is_set_back() -> None:
    async def work() -> None:
        times = iter([100.0, 101.0, 90.0, 90.0])
        stream = EventStream(lambda: next(times))
        start = stream.subscription(EventFilter()).place
        with stream.subscription(EventFilter()) as subscription:
            for _ in range(3):
                stream.publish(CONFIG, "backend/b", {})
            found = [each.id for each in await subscription.read(1)]
        assert found == [101_000_000, 101_000_001, 101_000_002]
        assert EventStream(lambda: 102.0).subscription(EventFilter()).place > found[-1] > start

    run(work())


def test_who_comes_back_gets_all_once_or_learns_that_some_are_gone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "NUMBER", 500)

    async def work() -> None:
        stream = EventStream()
        start = stream.subscription(EventFilter()).place
        for number in range(450):
            stream.publish(CONFIG, f"backend/{number}", {})
        found: list[str] = []
        place: int = start
        while len(found) < 450:
            assert stream.has_all_after(place, [CONFIG])
            with stream.subscription(EventFilter(), place) as subscription:
                found += await objects(subscription)
                place = subscription.place
        assert found == [f"backend/{number}" for number in range(450)]
        for number in range(100):
            stream.publish(CONFIG, f"backend/{number}", {})
        assert not stream.has_all_after(start, [CONFIG]) and stream.has_all_after(place, [CONFIG])
        assert not stream.has_all_after(stream.subscription(EventFilter()).place + 1, [CONFIG]), "of another clock"
        with stream.subscription_since(EventFilter(), 1000) as since:
            assert len(await objects(since)) == BATCH, "what is kept"

    run(work())


def test_a_slow_one_falls_behind_and_hurts_nobody(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "NUMBER", 100)

    async def work() -> None:
        stream = EventStream()
        with stream.subscription(EventFilter()) as slow, stream.subscription(EventFilter()) as quick:
            read = 0
            for _ in range(300):
                stream.publish(CONFIG, "backend/b", {})
                read += len(await quick.read(1))
            assert read == 300
            with pytest.raises(FellBehind):
                await slow.read(1)

    run(work())


def test_what_is_looked_at_is_recorded_while_it_is_wanted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "LINGER_SECONDS", 0.05)

    async def work() -> None:
        stream = EventStream()
        waiting = asyncio.create_task(stream.until_wanted(STATS))
        with stream.subscription(EventFilter({SERVER})):
            await asyncio.sleep(0.01)
            assert not waiting.done() and stream.is_wanted(SERVER)
        with stream.subscription(EventFilter({STATS})) as subscription:
            await waiting
            stream.publish(CONFIG, "backend/b", {})
            with stream.recorded(STATS):
                stream.publish(STATS, "backend/b", {})
                assert await objects(subscription) == ["backend/b"], "no more of others"
                assert stream.has_all_after(subscription.place, [STATS, CONFIG])
            assert not stream.has_all_after(subscription.place, [STATS, CONFIG])
            assert stream.has_all_after(subscription.place, [CONFIG])
        assert stream.is_wanted(STATS), "it may come back"
        await asyncio.sleep(0.06)
        assert not stream.is_wanted(STATS)

    run(work())
