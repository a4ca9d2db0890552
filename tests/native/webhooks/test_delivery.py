"""What waits is sent until it is taken: a queue on disk and a receiver over real sockets."""

import asyncio
import json
import sqlite3
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from haproxy_native.webhooks import delivery as deliveries
from haproxy_native.webhooks import pace
from haproxy_native.webhooks.delivery import Delivery
from haproxy_native.webhooks.queue import Limits, Queue
from haproxy_native.webhooks.sender import Sender
from haproxy_native.webhooks.webhook import Webhook
from tests.receiver import SECRET, Handler, Receiver


@pytest.fixture(autouse=True)
def quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pace, "FIRST", 0.005)
    monkeypatch.setattr(deliveries, "PAUSE", 0.01)


@pytest.fixture
def queue(tmp_path: Path) -> Queue:
    made = Queue(tmp_path, Limits())
    bodies = [json.dumps({"id": str(n), "time": "t", "type": "config", "object": f"backend/b{n}", "data": {}}).encode() for n in range(3)]
    made.add({"a": bodies}, time.time())
    return made


def deliver(queue: Queue, url: str, until: Callable[[Delivery], bool]) -> Delivery:
    """Until that holds, looked at whenever the queue is asked, and at its end."""
    webhook = Webhook("a", url, SECRET)

    async def work() -> Delivery:
        over = asyncio.Event()

        async def ask(what):
            if until(delivery):
                over.set()
                await asyncio.sleep(60)
            return what(queue)

        delivery = Delivery(webhook, Sender(webhook, "//here"), ask)
        running = asyncio.create_task(delivery.run())
        await asyncio.wait([running, asyncio.create_task(over.wait())], timeout=20, return_when=asyncio.FIRST_COMPLETED)
        running.cancel()
        await asyncio.wait([running])
        return delivery

    return asyncio.run(work())


def test_one_after_the_other_each_until_it_is_taken(queue: Queue) -> None:
    def hang_up(handler: Handler) -> None:
        handler.close_connection = True

    with Receiver(204, 500, hang_up, 301, 404, 200) as receiver:
        delivery = deliver(queue, receiver.url, lambda delivery: delivery.delivered == 3 and not queue.count("a"))
        assert receiver.subjects == ["backend/b0", "backend/b1", "backend/b2"]
        assert [each.event["id"] for each in receiver.requests] == ["0", "1", "1", "1", "1", "1", "2"]
    assert (delivery.failed, delivery.refused, delivery.status, delivery.error) == (4, 0, 204, "")


def test_a_receiver_is_given_the_time_that_it_asks_for(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    with Receiver(lambda handler: handler.say(429, Retry_After="120"), lambda handler: handler.say(503)) as receiver:
        monkeypatch.setattr(deliveries.asyncio, "sleep", sleep)
        with monkeypatch.context():
            deliver(queue, receiver.url, lambda delivery: delivery.delivered >= 1)
    assert pauses[0] == 120 and pauses[1] <= 0.02


def test_gone_stops_it_and_what_waits_is_kept(queue: Queue) -> None:
    with Receiver(204, 410) as receiver:
        delivery = deliver(queue, receiver.url, lambda _: False)
        assert delivery.is_stopped and len(receiver.requests) == 2
    assert queue.count("a") == 2 and "410" in delivery.error


def test_an_event_that_is_refused_again_and_again_is_given_up(queue: Queue) -> None:
    with Receiver(204, 413, 500, 413, 413, 400, 422, 204) as receiver:
        delivery = deliver(queue, receiver.url, lambda delivery: delivery.delivered == 2 and not queue.count("a"))
        assert receiver.subjects == ["backend/b0", "backend/b2"]
    assert (delivery.refused, delivery.delivered, delivery.failed) == (1, 2, 5)


def test_what_a_full_disk_does_not_take_is_not_sent_twice(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    monkeypatch.setattr(queue, "remove", full)
    with Receiver() as receiver:
        deliver(queue, receiver.url, lambda delivery: delivery.delivered == 3)
        assert [each.event["id"] for each in receiver.requests] == ["0", "1", "2"]
    assert queue.count("a") == 3


def test_a_queue_that_cannot_be_read_is_tried_again(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    read, failures = queue.next, iter(range(3))

    def sometimes(*given) -> object:
        if next(failures, None) is not None:
            raise sqlite3.OperationalError("disk I/O error")
        return read(*given)

    monkeypatch.setattr(queue, "next", sometimes)
    with Receiver() as receiver:
        assert deliver(queue, receiver.url, lambda delivery: delivery.delivered == 3).delivered == 3
