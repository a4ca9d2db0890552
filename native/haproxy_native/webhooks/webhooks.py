"""`Webhooks`: takes events from the stream as any subscriber does, writes them to disk behind it, and has them delivered from there."""

import asyncio
import logging
import sqlite3
import time
from collections.abc import Awaitable, Callable, Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self, TypeVar

from haproxy_native.background import Background
from haproxy_native.errors import NativeError
from haproxy_native.event_stream.past import StreamEvent
from haproxy_native.event_stream.stream import EventStream, FellBehind, Subscription, Wanted
from haproxy_native.webhooks.delivery import PAUSE, Delivery
from haproxy_native.webhooks.missed import FOUND, key
from haproxy_native.webhooks.queue import Limits, Queue
from haproxy_native.webhooks.sender import Sender
from haproxy_native.webhooks.webhook import Webhook

log = logging.getLogger(__name__)
# How long a wait for events is; nothing depends on it.
WAIT = 3600.0
Result = TypeVar("Result")
# Keys that were seen, the time since the first of them, and until when.
Missed = Callable[[Collection[str], float, float], Awaitable[Sequence[StreamEvent]]]


class Webhooks:
    """Within `async with` events of the stream are delivered. `source` is the name of this server in them.

    `missed` finds the events of a time that are neither here nor in the stream.
    """

    def __init__(
        self,
        stream: EventStream,
        directory: Path,
        source: str,
        webhooks: Sequence[Webhook],
        limits: Limits | None = None,
        missed: Missed | None = None,
    ) -> None:
        self._stream, self._directory, self._source = stream, directory, source
        self._webhooks, self._limits = tuple(webhooks), limits or Limits()
        self._missed, self._started = missed, 0.0
        self._thread = ThreadPoolExecutor(1, "webhooks")
        self._queue: Queue | None = None
        self._place, self._is_lost = stream.last, False
        self._subscription: Subscription | None = None
        self._taking: asyncio.Task[None] | None = None
        self._deliveries: dict[str, Delivery] = {}
        self._works = Background("taking events for webhooks")
        self._sending = Background("sending to webhooks")

    async def __aenter__(self) -> Self:
        self._place, self._started = self._stream.last, time.time()
        await self._begin()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        """What was published is on disk then."""
        await self._end()
        if self._queue is not None:
            await self._ask(Queue.close)
        self._thread.shutdown()

    async def change(self, webhooks: Sequence[Webhook]) -> None:
        """Goes by other settings. What waits for a webhook stays with its name; for one that is gone it is deleted."""
        await self._end()
        self._webhooks = tuple(webhooks)
        await self._begin()

    @property
    def standing(self) -> list[Delivery]:
        return list(self._deliveries.values())

    async def waiting(self) -> dict[str, tuple[int, float]]:
        """Returns for each webhook how many events wait, and the age of the oldest in seconds."""
        now = time.time()

        def look(queue: Queue) -> dict[str, tuple[int, float]]:
            return {webhook.name: (queue.count(webhook.name), now - (queue.oldest(webhook.name) or now)) for webhook in self._webhooks}

        with suppress(sqlite3.Error, OSError):
            return await self._ask(look) if self._webhooks else {}
        return {}

    def dropped(self, name: str) -> int:
        """Events that went beyond the limits before they were delivered."""
        return self._queue.dropped.get(name, 0) if self._queue else 0

    async def _begin(self) -> None:
        former, self._deliveries = self._deliveries, {}
        for webhook in self._webhooks:
            delivery = Delivery(webhook, Sender(webhook, self._source), self._ask)
            if before := former.get(webhook.name):
                delivery.delivered, delivery.failed, delivery.refused = before.delivered, before.failed, before.refused
            self._deliveries[webhook.name] = delivery
        is_there = await asyncio.to_thread(_is_there, self._directory / "queue.db")
        if self._webhooks or is_there:
            self._sending.begin(self._forget())
        if self._webhooks:
            self._subscription = self._stream.subscription(self._wanted, self._place)
            self._taking = self._works.begin(self._take(self._subscription))
        for delivery in self._deliveries.values():
            self._sending.begin(delivery.run())

    async def _end(self) -> None:
        await self._sending.stop()
        if self._subscription and self._taking:
            self._subscription.close()
            await asyncio.wait([self._taking])
            with suppress(sqlite3.Error, OSError, FellBehind):
                rest = self._stream.subscription(self._wanted, self._place)
                while events := await rest.read(0):
                    await self._keep(events)
        self._subscription = self._taking = None
        self._place = self._stream.last

    async def _forget(self) -> None:
        with suppress(sqlite3.Error, OSError):
            gone = await self._ask(lambda queue: queue.keep_only([webhook.name for webhook in self._webhooks]))
            for name, count in gone.items():
                log.warning("webhook %s is gone from the settings, and with it %d events that waited", name, count)

    @property
    def _wanted(self) -> Wanted:
        """Returns the filter of all events that may have to be found again, so that it is known which were seen."""
        return Wanted(FOUND.union(*(webhook.types for webhook in self._webhooks)))

    async def _take(self, subscription: Subscription) -> None:
        """Takes events until the subscription is closed. If the disk takes nothing, the stream keeps them as long as it can."""
        with subscription:
            await self._find_missed()
            while not subscription.is_closed:
                try:
                    if events := await subscription.read(WAIT):
                        await self._keep_at_last(subscription, events)
                except FellBehind:
                    log.error("events were lost to webhooks: the disk did not take them for too long")
                    subscription.place, self._is_lost = self._stream.last, True

    async def _find_missed(self) -> None:
        """What was changed until the start, for the webhooks that were there before."""
        names, until, self._started = [webhook.name for webhook in self._webhooks], self._started, 0.0
        try:
            seen, since = await self._ask(Queue.seen)
            known = await self._ask(lambda queue: queue.register(names, until or time.time()))
            if self._missed and known and until and since:
                await self._keep(await self._missed(seen, since, until), known)
        except (sqlite3.Error, OSError, NativeError) as error:
            log.warning("changes that webhooks have missed are not known: %s", error)

    async def _keep_at_last(self, subscription: Subscription, events: Sequence[StreamEvent]) -> None:
        while not subscription.is_closed:
            try:
                return await self._keep(events)
            except (sqlite3.Error, OSError) as error:
                log.error("the queue of webhooks in %s does not take events: %s", self._directory, error)
            await asyncio.sleep(PAUSE)

    async def _keep(self, events: Sequence[StreamEvent], names: Collection[str] | None = None) -> None:
        """Keeps events for the webhooks of these names, for all without names."""
        webhooks = [webhook for webhook in self._webhooks if names is None or webhook.name in names]
        wanted = {webhook.name: [event.body for event in events if webhook.wanted.holds(event)] for webhook in webhooks}
        rows = {name: bodies for name, bodies in wanted.items() if bodies}
        if self._is_lost:
            await self._ask(lambda queue: queue.skip(list(wanted)))
            self._is_lost = False
        if rows or any(event.type in FOUND for event in events):
            await self._ask(lambda queue: queue.add(rows, time.time(), list(filter(None, map(key, events)))))
        if names is None:
            self._place = events[-1].id
        for name in rows:
            self._deliveries[name].wake()

    async def _ask(self, work: Callable[[Queue], Result]) -> Result:
        """What is begun is done, even if the one who asks is cancelled."""
        return await asyncio.shield(asyncio.get_running_loop().run_in_executor(self._thread, lambda: work(self._opened())))

    def _opened(self) -> Queue:
        if self._queue is None:
            self._queue = Queue(self._directory, self._limits)
        return self._queue


def _is_there(path: Path) -> bool:
    """False where the directory may not be looked into."""
    try:
        return path.exists()
    except OSError:
        return False
