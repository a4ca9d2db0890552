"""`EventStream`: takes events from those who publish them, and gives each subscriber what it asks for, at its own pace.

A subscriber is a place in the past, without a queue of its own: one that falls behind further than the past goes back is dropped.
"""

import asyncio
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from heapq import merge
from types import TracebackType
from typing import Any, Self

from haproxy_native.editing import object_names
from haproxy_native.features.events.past import Past, StreamEvent

SERVER, STATS, CONFIG, RELOAD, WORKER = "server", "stats", "config", "reload", "worker"
CERTIFICATE, STORAGE, OPERATION, CONFIRMATION = "certificate", "storage", "operation", "confirmation"
# The object of a change of several.
WHOLE = "configuration"
TYPES = (SERVER, STATS, CONFIG, RELOAD, WORKER, CERTIFICATE, STORAGE, OPERATION, CONFIRMATION)
# Kinds of objects that have counters.
COUNTED = frozenset(("frontend", "backend", SERVER))
# What is kept. States of servers and counters come of looking at HAProxy, for subscribers only, and have a past of their own each.
NUMBER, MOST_BYTES = 10_000, 8 << 20
STATS_SECONDS, STATS_BYTES, STATS_NUMBER = 600.0, 32 << 20, 200_000
# For so long HAProxy is still looked at when the last subscriber has left, which may come back.
LINGER_SECONDS = 60.0
# How many events a subscriber gets at once.
BATCH = 200


class FellBehind(Exception):
    """Events that a subscriber has not read yet are no longer kept."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """Events of these types; with a `pattern` those of objects that it matches, or that stand in such; those that `may_read` allows.

    `counters`: kinds of objects whose counters are wanted.
    """

    types: Collection[str] = TYPES
    pattern: str = ""
    may_read: Callable[[str], bool] | None = None
    counters: frozenset[str] = COUNTED

    def holds(self, event: StreamEvent) -> bool:
        return event.type in self.types and self.is_about(event.objects) and (event.type != STATS or self.counts(event.objects[0]))

    def counts(self, object_: str) -> bool:
        """Whether counters of this object are wanted."""
        return (SERVER if "/server/" in object_ else object_.partition("/")[0]) in self.counters

    def is_about(self, objects: Sequence[str]) -> bool:
        if self.may_read and not all(self.may_read(name) for name in objects if name != WHOLE or len(objects) == 1):
            return False
        return not self.pattern or any(object_names.covers(self.pattern, name) for name in objects)


class EventStream:
    """`now`: Unix time."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._last = int(now() * 1_000_000)
        self._main = Past(self._last, NUMBER, MOST_BYTES)
        self._watched = {
            SERVER: Past(self._last, NUMBER, MOST_BYTES),
            STATS: Past(self._last, STATS_NUMBER, STATS_BYTES, STATS_SECONDS),
        }
        self._subscriptions: set[Subscription] = set()
        self._recorded: set[str] = set()
        # When the last subscriber of a type has left, by the monotonic clock.
        self._left: dict[str, float] = {}
        self._joined = asyncio.Event()
        self._is_closed = False

    def publish(self, type_: str, object_: str, data: Mapping[str, Any], objects: Sequence[str] = ()) -> None:
        """One more event; `objects` are all that it is about, where it is more than one. Returns at once, and raises nothing."""
        self._last = max(self._last + 1, int(self._now() * 1_000_000))
        event = StreamEvent.of(self._last, type_, object_, data, objects)
        self._watched.get(type_, self._main).add(event)
        for subscription in self._subscriptions:
            subscription.wake()

    def subscription(self, wanted: Wanted, after: int | None = None) -> "Subscription":
        """Returns a subscription to events from now on, or to all after that id."""
        place = self._last if after is None else after
        return Subscription(self, wanted, place, place)

    def subscription_since(self, wanted: Wanted, seconds: float) -> "Subscription":
        """Returns a subscription to events from now on, and to those of the last seconds as far as they are kept."""
        return Subscription(self, wanted, max(int((self._now() - seconds) * 1_000_000), 0), self._last)

    def add(self, subscription: "Subscription") -> None:
        self._subscriptions.add(subscription)
        self._joined.set()
        if self._is_closed:
            subscription.close()

    def remove(self, subscription: "Subscription") -> None:
        self._subscriptions.discard(subscription)
        self._left |= dict.fromkeys(subscription.wanted.types, time.monotonic())

    def has_all_after(self, id_: int, types: Collection[str]) -> bool:
        """Whether every event of these types after that one is kept; False for an id that is yet to come."""
        unrecorded = [type_ for type_ in types if type_ in self._watched and type_ not in self._recorded]
        return id_ <= self._last and not unrecorded and all(id_ >= past.floor for past in self._pasts(types))

    def after(self, id_: int, types: Collection[str], first: int) -> Sequence[StreamEvent]:
        """The oldest with greater ids, of any type that is kept beside these. Raises FellBehind where one after `first` is gone."""
        pasts = self._pasts(types)
        if any(past.floor > max(id_, first) for past in pasts):
            raise FellBehind
        batches = [past.after(id_, BATCH) for past in pasts]
        return list(merge(*batches, key=lambda event: event.id))[:BATCH] if len(batches) > 1 else batches[0]

    def _pasts(self, types: Collection[str]) -> list[Past]:
        special = [past for type_, past in self._watched.items() if type_ in types]
        return special if len(special) == len(set(types)) else [self._main, *special]

    def is_wanted(self, type_: str) -> bool:
        """Whether any subscriber wants events of this type, or did until a short time ago."""
        if any(type_ in subscription.wanted.types for subscription in self._subscriptions):
            return True
        return time.monotonic() - self._left.get(type_, -LINGER_SECONDS) < LINGER_SECONDS

    def counted(self) -> frozenset[str]:
        """The kinds of objects whose counters any subscriber wants; none where there is no subscriber."""
        return frozenset[str]().union(
            *(subscription.wanted.counters for subscription in self._subscriptions if STATS in subscription.wanted.types)
        )

    async def until_wanted(self, type_: str) -> None:
        while not self.is_wanted(type_):
            self._joined.clear()
            await self._joined.wait()

    @contextmanager
    def recorded(self, type_: str) -> Iterator[None]:
        """Within it all events of a watched type are published; those of before are forgotten."""
        places = [subscription.place for subscription in self._subscriptions if type_ in subscription.wanted.types]
        self._watched[type_].restart(min(places, default=self._last))
        self._recorded.add(type_)
        try:
            yield
        finally:
            self._recorded.discard(type_)

    def close(self) -> None:
        """Ends all subscriptions, and those that are to come."""
        self._is_closed = True
        for subscription in self._subscriptions:
            subscription.close()


class Subscription:
    """Within `with` it is woken by each event. `place`: the id of the last event that was read, or passed over; none after `first` is
    left out."""

    __slots__ = ("_first", "_stream", "_waiter", "is_closed", "place", "wanted")

    def __init__(self, stream: EventStream, wanted: Wanted, place: int, first: int) -> None:
        self._stream, self.wanted, self.place, self._first = stream, wanted, place, first
        self._waiter: asyncio.Future[None] | None = None
        self.is_closed = False

    def __enter__(self) -> Self:
        self._stream.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stream.remove(self)

    async def read(self, seconds: float) -> list[StreamEvent]:
        """The next events; none when none comes in so many seconds, or it was closed. Raises FellBehind."""
        deadline = asyncio.get_running_loop().time() + seconds
        while not self.is_closed:
            if (events := self._batch()) is None:
                if not await self.wait(deadline - asyncio.get_running_loop().time()):
                    break
            elif events:
                return events
            else:
                await asyncio.sleep(0)
        return []

    def available(self) -> list[StreamEvent]:
        """The next events that are there already. Raises FellBehind."""
        while (events := self._batch()) is not None:
            if events:
                return events
        return []

    def _batch(self) -> list[StreamEvent] | None:
        """What is wanted of the next events that are kept; None where there are none."""
        if not (events := self._stream.after(self.place, self.wanted.types, self._first)):
            return None
        self.place = events[-1].id
        return [event for event in events if self.wanted.holds(event)]

    async def wait(self, seconds: float) -> bool:
        """Waits until `wake` is called; returns False after so many seconds. Returns at once if it is closed."""
        if self.is_closed:
            return True
        self._waiter = asyncio.get_running_loop().create_future()
        if seconds == math.inf:
            await self._waiter
            return True
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self._waiter
        except TimeoutError:
            return False
        return True

    def wake(self) -> None:
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self) -> None:
        """Ends the wait of `read`."""
        self.is_closed = True
        self.wake()
