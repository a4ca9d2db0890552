"""`Fanout`: writes events to many subscribers at once. Subscribers with the same filter share one subscription and the encoded events."""

import asyncio
import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from haproxy_native.background import Background
from haproxy_native.features.events.stream import EventFilter, EventStream, FellBehind, StreamEvent, Subscription

log = logging.getLogger(__name__)
# Writes without waiting; returns False if the reader has not read earlier data yet.
Write = Callable[[bytes], bool]
Form = Callable[[Sequence[StreamEvent]], bytes]
# Events are written to AT_ONCE subscribers at a time, so that a change in progress does not wait for all of them. The next events are
# written after a pause.
AT_ONCE = 16
GATHER_SECONDS = 0.02


class Fanout:
    """Groups of subscribers. `form` encodes events; for an empty list it returns the heartbeat, sent after `seconds` without events."""

    def __init__(self, stream: EventStream, form: Form, seconds: float) -> None:
        self._stream, self._form, self._seconds = stream, form, seconds
        self._groups: dict[EventFilter, _Group] = {}
        self._works = Background("writing events")

    async def follow(self, subscription: Subscription, write: Write, seconds: float) -> list[StreamEvent]:
        """Return the stored events, for the caller to write. If there are none, write new events as they are published, then return none.

        Writing ends when the reader is too slow, when the subscription is closed, or after so many seconds. Raises FellBehind.
        """
        if events := subscription.available():
            return events
        with self._joined(subscription, write):
            await subscription.wait(seconds)
        return []

    @contextmanager
    def _joined(self, subscription: Subscription, write: Write) -> Iterator[None]:
        if (group := self._groups.get(subscription.wanted)) is None:
            group = self._groups[subscription.wanted] = _Group(self._stream.subscription(subscription.wanted), self._form)
            self._stream.add(group.subscription)
            self._works.begin(self._run(group))
        group.write_published()
        group.members[subscription] = write
        self._stream.remove(subscription)
        try:
            yield
        finally:
            self._stream.add(subscription)
            group.leave(subscription)
            if not group.members:
                self._forget(group)
                group.subscription.close()

    async def _run(self, group: "_Group") -> None:
        try:
            with group.subscription:
                while not group.subscription.is_closed:
                    await group.next(self._seconds)
        except FellBehind:
            log.debug("%d readers of events fell behind", len(group.members))
        finally:
            self._forget(group)
            group.end()

    def _forget(self, group: "_Group") -> None:
        if self._groups.get(group.subscription.wanted) is group:
            del self._groups[group.subscription.wanted]


class _Group:
    """Subscribers with the same filter. All were sent the events up to `_place`. Members that are not in `_left` were also sent `_data`."""

    def __init__(self, subscription: Subscription, form: Form) -> None:
        self.subscription, self._form = subscription, form
        self._place = subscription.place
        self.members: dict[Subscription, Write] = {}
        self._left: list[Subscription] = []
        self._data = b""

    async def next(self, seconds: float) -> None:
        """Write the next events as they are published, or the heartbeat after so many seconds without any."""
        events = await self.subscription.read(seconds)
        if self.subscription.is_closed:
            return
        self._begin(events)
        while self._left:
            self._write(AT_ONCE)
            await asyncio.sleep(0)
        await asyncio.sleep(GATHER_SECONDS)

    def write_published(self) -> None:
        """Write the events published so far, without waiting."""
        self._write_rest()
        while events := self.subscription.available():
            self._begin(events)
            self._write_rest()

    def _begin(self, events: Sequence[StreamEvent]) -> None:
        self._data, self._left = self._form(events), list(self.members)

    def _write_rest(self) -> None:
        self._write(len(self._left))

    def _write(self, number: int) -> None:
        part, self._left = self._left[:number], self._left[number:]
        for member in part:
            if not self.members[member](self._data):
                self._release(member)
        if not self._left:
            self._place = self.subscription.place

    def leave(self, member: Subscription) -> None:
        """Remove a member. It then reads by itself, after the last event that was written to it."""
        self._write_rest()
        self._release(member)

    def _release(self, member: Subscription) -> None:
        if self.members.pop(member, None):
            member.place = self._place
            member.wake()

    def end(self) -> None:
        """Release all members: the stream has ended, or the group fell behind."""
        self._write_rest()
        for member in list(self.members):
            self._release(member)
            if self.subscription.is_closed:
                member.close()
