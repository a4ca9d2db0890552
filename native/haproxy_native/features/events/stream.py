"""Store the last events, and let each subscriber read the events that match its filter, at its own pace.

A subscription is a position in the stored events (`place`), and has no queue of its own. Each event wakes all subscriptions. If an event is
dropped before a subscriber has read it, reading raises FellBehind.

There are three stores. Events that are always published, such as commits and reloads, share the first store. States of servers and counters
have one store each, because they are published only while somebody subscribes to them. These two stores have all events of their type only
while the type is `recorded`.
"""

import asyncio
import json
import math
import time
from bisect import bisect_right
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from heapq import merge
from types import TracebackType
from typing import Any, Self

from haproxy_native.editing import object_names

# How many bytes a Python object takes in memory in addition to its content.
_OVERHEAD = 80
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode
SERVER, STATS, CONFIG, RELOAD, WORKER = "server", "stats", "config", "reload", "worker"
CERTIFICATE, STORAGE, OPERATION, CONFIRMATION, FLEET = "certificate", "storage", "operation", "confirmation", "fleet"
# The object name of an event about several objects.
WHOLE = "configuration"
TYPES = (SERVER, STATS, CONFIG, RELOAD, WORKER, CERTIFICATE, STORAGE, OPERATION, CONFIRMATION, FLEET)
# The kinds of objects with counters.
COUNTED = frozenset(("frontend", "backend", SERVER))
# The limits of the stores, in events, bytes and seconds.
NUMBER, MOST_BYTES = 10_000, 8 << 20
STATS_SECONDS, STATS_BYTES, STATS_NUMBER = 600.0, 32 << 20, 200_000
# How long HAProxy is polled after the last subscriber has left, which may connect again.
LINGER_SECONDS = 60.0
# How many stored events are read at once.
BATCH = 200


def kind_of(object_: str) -> str:
    """Return the kind of an object: `server`, or the first segment of its name, such as `frontend`."""
    return SERVER if "/server/" in object_ else object_.partition("/")[0]


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """A published event."""

    # The Unix time of its publication in microseconds, but at least 1 more than the id of the event before.
    id: int
    type: str
    # All objects that the event is about.
    objects: Sequence[str]
    # The JSON to send.
    body: bytes

    @property
    def memory(self) -> int:
        """Return the approximate size of the event in memory, in bytes."""
        return len(self.body) + _OVERHEAD + sum(len(object_) + _OVERHEAD for object_ in self.objects)

    @classmethod
    def of(cls, id_: int, type_: str, object_: str, data: Mapping[str, Any], objects: Sequence[str] = ()) -> Self:
        """Encode an event. `objects`: all objects that the event is about, if there are more than `object_`."""
        text = _ENCODE({"id": str(id_), "time": _rfc3339(id_ // 1000), "type": type_, "object": object_, "data": data})
        # A byte of a file that is not UTF-8 is a lone surrogate here. It is encoded as an escape.
        return cls(id_, type_, objects or (object_,), text.encode("utf-8", "backslashreplace"))


@lru_cache(maxsize=16)
def _rfc3339(milliseconds: int) -> str:
    """Return a Unix time in milliseconds as RFC 3339. Cached, since thousands of counters may change within a millisecond."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class EventStore:
    """A store of the last events: at most `number` of them, with at most `size` bytes together, and none older than `seconds` (0: any age).

    All published events with ids above `floor` are stored.
    """

    def __init__(self, floor: int, number: int, size: int, seconds: float = 0) -> None:
        self.floor = floor
        self._number, self._most_bytes, self._age = number, size, int(seconds * 1_000_000)
        self._events: list[StreamEvent] = []
        self._first = self._bytes = 0

    def add(self, event: StreamEvent) -> None:
        """Add an event, and drop the oldest ones that exceed the limits. The last event always stays."""
        self._events.append(event)
        self._bytes += event.memory
        while (length := len(self._events) - self._first) > 1:
            oldest = self._events[self._first]
            is_too_old = self._age and event.id - oldest.id > self._age
            if length <= self._number and self._bytes <= self._most_bytes and not is_too_old:
                break
            self.floor, self._first, self._bytes = oldest.id, self._first + 1, self._bytes - oldest.memory
        # Deleting from the front of a list moves the rest, so many events are deleted at once.
        if self._first > len(self._events) // 2:
            del self._events[: self._first]
            self._first = 0

    def restart(self, floor: int) -> None:
        """Drop all events, and begin again after the id `floor`."""
        self._events.clear()
        self.floor, self._first, self._bytes = floor, 0, 0

    def after(self, id_: int, most: int) -> Sequence[StreamEvent]:
        """Return the oldest stored events with ids above `id_`, at most `most` of them."""
        start = bisect_right(self._events, id_, lo=self._first, key=lambda event: event.id)
        return self._events[start : start + most]


class FellBehind(Exception):
    """Events were dropped before a subscriber has read them."""


@dataclass(frozen=True, slots=True)
class EventFilter:
    """The events that a subscriber wants and may read."""

    types: Collection[str] = TYPES
    # A pattern for names of objects. It also covers the objects inside a matching object. Empty for all objects.
    pattern: str = ""
    # Returns whether the subscriber may read an object; None if the subscriber may read all objects.
    may_read: Callable[[str], bool] | None = None
    # The kinds of objects whose counters are wanted.
    counters: frozenset[str] = COUNTED

    def matches(self, event: StreamEvent) -> bool:
        return event.type in self.types and self.is_about(event.objects) and (event.type != STATS or self.counts(event.objects[0]))

    def counts(self, object_: str) -> bool:
        """Return whether counters of this object are wanted."""
        return kind_of(object_) in self.counters

    def is_about(self, objects: Sequence[str]) -> bool:
        """Return whether the subscriber may read all of these objects, and the pattern covers one of them."""
        if self.may_read and not all(self.may_read(name) for name in objects if name != WHOLE or len(objects) == 1):
            return False
        return not self.pattern or any(object_names.covers(self.pattern, name) for name in objects)


class EventStream:
    """The stored events and their subscribers. `now` returns the Unix time."""

    def __init__(self, now: Callable[[], float] = time.time) -> None:
        self._now = now
        self._last = int(now() * 1_000_000)
        self._main = EventStore(self._last, NUMBER, MOST_BYTES)
        self._watched = {
            SERVER: EventStore(self._last, NUMBER, MOST_BYTES),
            STATS: EventStore(self._last, STATS_NUMBER, STATS_BYTES, STATS_SECONDS),
        }
        self._subscriptions: set[Subscription] = set()
        self._recorded: set[str] = set()
        # When a subscriber of a type last left, by the monotonic clock.
        self._left_at: dict[str, float] = {}
        self._joined = asyncio.Event()
        self._is_closed = False

    def publish(self, type_: str, object_: str, data: Mapping[str, Any], objects: Sequence[str] = ()) -> None:
        """Store an event and wake the subscribers. `objects`: all objects that the event is about, if there are more than `object_`."""
        self._last = max(self._last + 1, int(self._now() * 1_000_000))
        event = StreamEvent.of(self._last, type_, object_, data, objects)
        self._watched.get(type_, self._main).add(event)
        for subscription in self._subscriptions:
            subscription.wake()

    def subscription(self, wanted: EventFilter, after: int | None = None) -> "Subscription":
        """Return a subscription to the events with ids above `after`; by default, to future events only."""
        place = self._last if after is None else after
        return Subscription(self, wanted, place, place)

    def subscription_since(self, wanted: EventFilter, seconds: float) -> "Subscription":
        """Return a subscription to the stored events of the last `seconds`, and to all future events."""
        return Subscription(self, wanted, max(int((self._now() - seconds) * 1_000_000), 0), self._last)

    def add(self, subscription: "Subscription") -> None:
        """Wake the subscription with each event from now on."""
        self._subscriptions.add(subscription)
        self._joined.set()
        if self._is_closed:
            subscription.close()

    def remove(self, subscription: "Subscription") -> None:
        """Stop waking the subscription."""
        self._subscriptions.discard(subscription)
        self._left_at |= dict.fromkeys(subscription.wanted.types, time.monotonic())

    def has_all_after(self, id_: int, types: Collection[str]) -> bool:
        """Return whether all events of these types with ids above `id_` are stored; False for an id in the future."""
        unrecorded = [type_ for type_ in types if type_ in self._watched and type_ not in self._recorded]
        return id_ <= self._last and not unrecorded and all(id_ >= store.floor for store in self._stores(types))

    def after(self, id_: int, types: Collection[str], first: int) -> Sequence[StreamEvent]:
        """Return the next stored events with ids above `id_`, at most BATCH. The result may include events of other types than `types`.

        Raises FellBehind if an event with an id above both `id_` and `first` was dropped.
        """
        stores = self._stores(types)
        if any(store.floor > max(id_, first) for store in stores):
            raise FellBehind
        batches = [store.after(id_, BATCH) for store in stores]
        return list(merge(*batches, key=lambda event: event.id))[:BATCH] if len(batches) > 1 else batches[0]

    def _stores(self, types: Collection[str]) -> list[EventStore]:
        """Return the stores that have events of these types."""
        watched = [store for type_, store in self._watched.items() if type_ in types]
        return watched if len(watched) == len(set(types)) else [self._main, *watched]

    def is_wanted(self, type_: str) -> bool:
        """Return whether there is a subscriber to events of this type, or the last such subscriber left less than LINGER_SECONDS ago."""
        if any(type_ in subscription.wanted.types for subscription in self._subscriptions):
            return True
        return time.monotonic() - self._left_at.get(type_, -LINGER_SECONDS) < LINGER_SECONDS

    def wanted_counters(self) -> frozenset[str]:
        """Return the kinds of objects whose counters any subscriber wants."""
        return frozenset[str]().union(
            *(subscription.wanted.counters for subscription in self._subscriptions if STATS in subscription.wanted.types)
        )

    async def until_wanted(self, type_: str) -> None:
        """Wait until a subscriber wants events of this type."""
        while not self.is_wanted(type_):
            self._joined.clear()
            await self._joined.wait()

    @contextmanager
    def recorded(self, type_: str) -> Iterator[None]:
        """Declare that the caller publishes all events of a type while the context is active. Drops the earlier events of the type."""
        places = [subscription.place for subscription in self._subscriptions if type_ in subscription.wanted.types]
        self._watched[type_].restart(min(places, default=self._last))
        self._recorded.add(type_)
        try:
            yield
        finally:
            self._recorded.discard(type_)

    def close(self) -> None:
        """End all subscriptions. Future subscriptions end at once."""
        self._is_closed = True
        for subscription in self._subscriptions:
            subscription.close()


class Subscription:
    """A position in the stream of events. While the context is active, each event wakes the subscription.

    `place` is the id of the last event that was read or did not match the filter. Reading raises FellBehind if an event with an id above
    both `place` and `first` was dropped before it was read.
    """

    __slots__ = ("_first", "_stream", "_waiter", "is_closed", "place", "wanted")

    def __init__(self, stream: EventStream, wanted: EventFilter, place: int, first: int) -> None:
        self._stream, self.wanted, self.place, self._first = stream, wanted, place, first
        self._waiter: asyncio.Future[None] | None = None
        self.is_closed = False

    def __enter__(self) -> Self:
        self._stream.add(self)
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._stream.remove(self)

    async def read(self, seconds: float) -> list[StreamEvent]:
        """Wait for the next events and return them. Return [] after `seconds`, or if the subscription is closed. Raises FellBehind."""
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
        """Return the next stored events without waiting. Raises FellBehind."""
        while (events := self._batch()) is not None:
            if events:
                return events
        return []

    def _batch(self) -> list[StreamEvent] | None:
        """Return the events of the next batch that match the filter, which may be none; None if there is no further stored event."""
        if not (events := self._stream.after(self.place, self.wanted.types, self._first)):
            return None
        self.place = events[-1].id
        return [event for event in events if self.wanted.matches(event)]

    async def wait(self, seconds: float) -> bool:
        """Wait for the next call of `wake` and return True; False after `seconds`. If the subscription is closed, return True at once."""
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
        """End the current `wait`, if there is one."""
        if self._waiter and not self._waiter.done():
            self._waiter.set_result(None)

    def close(self) -> None:
        """End the subscription, and the current `wait` or `read`, if there is one."""
        self.is_closed = True
        self.wake()
