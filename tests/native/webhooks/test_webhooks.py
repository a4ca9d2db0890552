"""From the stream to a receiver over real sockets, over restarts, other settings and a disk that is full."""

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.event_stream.stream import CONFIG, RELOAD, SERVER, EventStream
from haproxy_native.webhooks import delivery as deliveries
from haproxy_native.webhooks import pace
from haproxy_native.webhooks import webhooks as rooms
from haproxy_native.webhooks.queue import Queue
from haproxy_native.webhooks.webhook import Webhook
from haproxy_native.webhooks.webhooks import Webhooks
from tests.receiver import SECRET, Receiver


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST", 0.01)
    monkeypatch.setattr(deliveries, "PAUSE", 0.01)
    monkeypatch.setattr(rooms, "PAUSE", 0.01)


async def until(receiver: Receiver, holds: Callable[[Receiver], bool]) -> None:
    await asyncio.to_thread(receiver.until, holds)


@asynccontextmanager
async def opened(tmp_path: Path, *webhooks: Webhook) -> AsyncIterator[tuple[EventStream, Webhooks]]:
    stream = EventStream()
    async with Webhooks(stream, tmp_path / "webhooks", "//here", webhooks) as room:
        yield stream, room


def test_each_gets_what_it_wants(tmp_path: Path) -> None:
    async def work() -> None:
        with Receiver() as every, Receiver() as some:
            one = Webhook("every", every.url, SECRET)
            other = Webhook("some", some.url, SECRET, types=(CONFIG,), object="backend/b*")
            async with opened(tmp_path, one, other) as (stream, _):
                stream.publish(CONFIG, "backend/b1", {})
                stream.publish(RELOAD, "reload/1", {})
                stream.publish(SERVER, "backend/b1/server/s", {})
                stream.publish(CONFIG, "configuration", {}, ["backend/a", "backend/b3"])
                await until(every, lambda each: len(each.taken) == 4)
                await until(some, lambda each: len(each.taken) == 2)
                assert [each.event["sequence"] for each in every.taken] == [f"{n:010d}" for n in (1, 2, 3, 4)]
                assert some.subjects == ["backend/b1", "configuration"]
                assert {each.event["id"] for each in some.taken} < {each.event["id"] for each in every.taken}
                assert stream.is_wanted(SERVER)

    asyncio.run(work())


def test_what_waits_outlives_a_restart(tmp_path: Path) -> None:
    async def work() -> None:
        with Receiver() as receiver:
            pass
        webhook = Webhook("a", receiver.url, SECRET)
        async with opened(tmp_path, webhook) as (stream, room):
            stream.publish(CONFIG, "backend/early", {})
            while not room.standing[0].failed:
                await asyncio.sleep(0.01)
            assert (await room.waiting())["a"][0] == 1
            # Published right before the end, so that it is on disk only since the end waits for it.
            stream.publish(CONFIG, "backend/late", {})
        with Receiver(port=receiver.port) as again:
            async with opened(tmp_path, webhook):
                await until(again, lambda each: each.subjects == ["backend/early", "backend/late"])

    asyncio.run(work())


def test_other_settings_while_events_wait(tmp_path: Path) -> None:
    async def work() -> None:
        with Receiver(otherwise=500) as former, Receiver() as other:
            moved = Webhook("moved", former.url, SECRET, types=(RELOAD,))
            async with opened(tmp_path, moved, Webhook("gone", former.url, SECRET)) as (stream, room):
                stream.publish(RELOAD, "reload/1", {})
                await until(former, lambda each: len(each.requests) >= 2)
                await room.change([replace(moved, url=other.url, types=(RELOAD, CONFIG))])
                await until(other, lambda each: each.subjects == ["reload/1"])
                stream.publish(CONFIG, "backend/b", {})
                await until(other, lambda each: each.subjects == ["reload/1", "backend/b"])
                assert list(await room.waiting()) == ["moved"]
                await room.change([])
                stream.publish(CONFIG, "backend/none", {})
                assert await room.waiting() == {} and not stream.is_wanted("nothing")
                await room.change([Webhook("gone", other.url, SECRET)])
                stream.publish(CONFIG, "backend/last", {})
                await until(other, lambda each: each.subjects[2:] == ["backend/last"])

    asyncio.run(work())


def test_a_directory_that_cannot_even_be_looked_into(tmp_path: Path) -> None:
    """Here for the length of its name; for others it is one of root's."""

    async def work() -> None:
        async with Webhooks(EventStream(), tmp_path / ("x" * 300), "here", []) as webhooks:
            assert await webhooks.waiting() == {}

    asyncio.run(work())


def test_a_stop_ends_with_other_settings(tmp_path: Path) -> None:
    async def work() -> None:
        with Receiver(410) as receiver:
            webhook = Webhook("a", receiver.url, SECRET)
            async with opened(tmp_path, webhook) as (stream, room):
                stream.publish(CONFIG, "backend/b", {})
                while not room.standing[0].is_stopped:
                    await asyncio.sleep(0.01)
                await room.change([webhook])
                await until(receiver, lambda each: each.subjects == ["backend/b"])

    asyncio.run(work())


def test_a_full_disk_holds_nothing_up_and_loses_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    add, refusals = Queue.add, []

    def full(queue: Queue, *given) -> None:
        if len(refusals) < 3:
            refusals.append(time.monotonic())
            raise OSError(28, "No space left on device")
        add(queue, *given)

    monkeypatch.setattr(Queue, "add", full)

    async def work() -> None:
        with Receiver() as receiver:
            async with opened(tmp_path, Webhook("a", receiver.url, SECRET)) as (stream, _):
                for number in range(5):
                    stream.publish(CONFIG, f"backend/b{number}", {})
                    await asyncio.sleep(0)
                await until(receiver, lambda each: each.subjects == [f"backend/b{n}" for n in range(5)])

    asyncio.run(work())
    assert len(refusals) == 3


def test_what_was_lost_leaves_a_number_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A disk that is full for longer than the stream's past goes back."""
    add, refuses, refused = Queue.add, True, asyncio.Event()

    def full(queue: Queue, *given) -> None:
        if refuses:
            loop.call_soon_threadsafe(refused.set)
            raise OSError(28, "No space left on device")
        add(queue, *given)

    monkeypatch.setattr(Queue, "add", full)

    loop: asyncio.AbstractEventLoop

    async def work() -> None:
        nonlocal refuses, loop
        loop = asyncio.get_running_loop()
        with Receiver() as receiver:
            async with opened(tmp_path, Webhook("a", receiver.url, SECRET)) as (stream, room):
                stream.publish(CONFIG, "backend/first", {})
                await refused.wait()
                for number in range(10_100):
                    stream.publish(CONFIG, f"backend/b{number}", {})
                refuses = False
                await until(receiver, lambda each: "backend/first" in each.subjects)
                while not room._is_lost and len(receiver.taken) < 2:
                    await asyncio.sleep(0.01)
                stream.publish(CONFIG, "backend/last", {})
                await until(receiver, lambda each: "backend/last" in each.subjects)
                assert [each.event["sequence"][-1] for each in receiver.taken] == ["1", "3"]

    asyncio.run(work())


def test_nothing_is_written_without_webhooks(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(tmp_path) as (stream, room):
            stream.publish(CONFIG, "backend/b", {})
            assert await room.waiting() == {}

    asyncio.run(work())
    assert not (tmp_path / "webhooks").exists()
