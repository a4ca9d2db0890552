import asyncio
import math
import random
from collections.abc import Sequence

import pytest

from haproxy_native.features.events import stream as streams
from haproxy_native.features.events.fanout import Fanout
from haproxy_native.features.events.stream import CONFIG, RELOAD, EventFilter, EventStream, FellBehind, StreamEvent, Subscription

IDLE = b"idle"


def form(events: Sequence[StreamEvent]) -> bytes:
    return b" ".join(b"%d" % each.id for each in events) or IDLE


class Reader:
    """A subscriber. `ids` are the ids of all received events. It refuses each write with the probability `refusing`."""

    def __init__(self, stream: EventStream, fanout: Fanout, wanted: EventFilter, refusing: float = 0.0, seconds: float = math.inf) -> None:
        self.subscription, self._fanout, self.refusing, self._seconds = stream.subscription(wanted), fanout, refusing, seconds
        self.ids: list[int] = []
        self.written = self.idle = 0
        self._random = random.Random(1)

    async def run(self) -> None:
        with self.subscription:
            while not self.subscription.is_closed:
                self.ids += [each.id for each in await self._fanout.follow(self.subscription, self.write, self._seconds)]
                await asyncio.sleep(0)

    def write(self, data: bytes) -> bool:
        if self._random.random() < self.refusing:
            return False
        self.idle += data == IDLE
        ids = [int(each) for each in data.split() if each != IDLE]
        self.written += len(ids)
        self.ids += ids
        return True


@pytest.mark.parametrize("seconds", [math.inf, 0.001])
def test_each_gets_everything_once_and_in_order(seconds: float) -> None:
    async def work() -> None:
        stream, chance = EventStream(), random.Random(2)
        fanout = Fanout(stream, form, 60)
        both, one = EventFilter(frozenset({CONFIG, RELOAD})), EventFilter(frozenset({CONFIG}))
        readers = [Reader(stream, fanout, wanted, refusing, seconds) for wanted in (both, one) for refusing in (0.0, 0.1, 0.9)]
        tasks = [asyncio.create_task(each.run()) for each in readers]
        published: list[tuple[str, int]] = []
        for _ in range(2000):
            type_ = chance.choice((CONFIG, RELOAD))
            stream.publish(type_, "a", {})
            published.append((type_, stream.subscription(EventFilter()).place))
            for _ in range(chance.choice((0, 1, 5))):
                await asyncio.sleep(0)
        while any(len(each.ids) < sum(type_ in each.subscription.wanted.types for type_, _ in published) for each in readers):
            await asyncio.sleep(0)
        stream.close()
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
        for each in readers:
            assert each.ids == [id_ for type_, id_ in published if type_ in each.subscription.wanted.types]
        # With a deadline of a millisecond, a busy machine may return all events to the reader, and write none.
        assert seconds < math.inf or readers[0].written > 100

    asyncio.run(work())


def test_bytes_are_made_once_for_all() -> None:
    async def work() -> None:
        stream, made = EventStream(), []

        def counting(events: Sequence[StreamEvent]) -> bytes:
            made.append(len(events))
            return form(events)

        fanout = Fanout(stream, counting, 60)
        readers = [Reader(stream, fanout, EventFilter()) for _ in range(50)]
        tasks = [asyncio.create_task(each.run()) for each in readers]
        await asyncio.sleep(0)
        for number in range(3):
            stream.publish(CONFIG, f"backend/b{number}", {})
        while len(readers[-1].ids) < 3:
            await asyncio.sleep(0)
        assert made == [3]
        for each in readers:
            each.subscription.close()
        await asyncio.wait_for(asyncio.gather(*tasks), 60)
        while stream._subscriptions:
            await asyncio.sleep(0.005)

    asyncio.run(work())


def test_something_is_written_while_nothing_happens() -> None:
    async def work() -> None:
        stream = EventStream()
        reader = Reader(stream, Fanout(stream, form, 0.01), EventFilter())
        task = asyncio.create_task(reader.run())
        while reader.idle < 2:
            await asyncio.sleep(0.005)
        stream.close()
        await asyncio.wait_for(task, 60)

    asyncio.run(work())


def test_one_that_falls_behind_is_told_and_hurts_no_other(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(streams, "NUMBER", 10)

    async def work() -> None:
        stream = EventStream()
        fanout = Fanout(stream, form, 60)
        quick, slow = (Reader(stream, fanout, EventFilter()) for _ in range(2))
        running = asyncio.create_task(quick.run())

        async def stay(subscription: Subscription) -> None:
            """Follow the stream until a write is refused, without reading stored events."""
            with subscription:
                assert await fanout.follow(subscription, slow.write, math.inf) == []
                while len(quick.ids) < 20:
                    await asyncio.sleep(0)
                await fanout.follow(subscription, slow.write, math.inf)

        slow.refusing = 1.0
        staying = asyncio.create_task(stay(slow.subscription))
        await asyncio.sleep(0)
        for _ in range(30):
            stream.publish(CONFIG, "a", {})
            while quick.ids[-1:] != [stream.subscription(EventFilter()).place]:
                await asyncio.sleep(0)
        with pytest.raises(FellBehind):
            await asyncio.wait_for(staying, 60)
        assert len(quick.ids) == 30 and slow.ids == []
        stream.close()
        await asyncio.wait_for(running, 60)

    asyncio.run(work())


def test_all_fall_behind_together(monkeypatch: pytest.MonkeyPatch) -> None:
    """More events are published at once than the store keeps."""
    monkeypatch.setattr(streams, "NUMBER", 10)

    async def work() -> None:
        stream = EventStream()
        fanout = Fanout(stream, form, 60)
        tasks = [asyncio.create_task(Reader(stream, fanout, EventFilter()).run()) for _ in range(3)]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        for _ in range(30):
            stream.publish(CONFIG, "a", {})
        assert [type(each) for each in await asyncio.wait_for(asyncio.gather(*tasks, return_exceptions=True), 60)] == [FellBehind] * 3
        late = Reader(stream, fanout, EventFilter())
        task = asyncio.create_task(late.run())
        await asyncio.sleep(0)
        stream.publish(CONFIG, "a", {})
        while not late.ids:
            await asyncio.sleep(0)
        stream.close()
        await asyncio.wait_for(task, 60)

    asyncio.run(work())
