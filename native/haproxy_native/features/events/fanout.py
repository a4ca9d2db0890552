"""Filter and encode each event once for all subscribers with the same filter, and write it to all of them.

A subscriber first reads the stored events alone. Once it has read them all, it joins the group of its filter, and the group writes new
events directly to its connection. A subscriber whose connection is slow leaves the group, and reads stored events alone again.
"""

import asyncio
import logging
from collections.abc import Callable, Sequence

from haproxy_native.background import Background
from haproxy_native.features.events.stream import EventFilter, EventStream, FellBehind, StreamEvent, Subscription

log = logging.getLogger(__name__)
# Writes data without waiting. Returns False if the client has not read earlier data yet.
Write = Callable[[bytes], bool]
Encode = Callable[[Sequence[StreamEvent]], bytes]
# How many subscribers are written to before other tasks run, and the pause before the next events, in seconds.
AT_ONCE = 16
GATHER_SECONDS = 0.02


class Fanout:
    """The groups of subscribers, by filter. `encode` encodes events, or a heartbeat from an empty list, after `seconds` without events."""

    def __init__(self, stream: EventStream, encode: Encode, seconds: float) -> None:
        self._stream, self._encode, self._seconds = stream, encode, seconds
        self._groups: dict[EventFilter, _Group] = {}
        self._background = Background("writing events")

    async def follow(self, subscription: Subscription, write: Write, seconds: float) -> list[StreamEvent]:
        """Return stored events for the caller to write. If there are none, write new events with `write` as they appear, and return [].

        Writing ends when the client is too slow, when the subscription is closed, or after `seconds`. Raises FellBehind.
        """
        if events := subscription.available():
            return events
        if (group := self._groups.get(subscription.wanted)) is None:
            group = self._groups[subscription.wanted] = _Group(self._stream.subscription(subscription.wanted), self._encode)
            self._stream.add(group.subscription)
            self._background.begin(self._write_group(group))
        group.write_published()
        group.members[subscription] = write
        self._stream.remove(subscription)
        try:
            await subscription.wait(seconds)
        finally:
            self._stream.add(subscription)
            group.leave(subscription)
            if not group.members:
                self._forget(group)
                group.subscription.close()
        return []

    async def _write_group(self, group: "_Group") -> None:
        """Write the events of a group until it has no members or the stream ends."""
        try:
            with group.subscription:
                while not group.subscription.is_closed:
                    await group.write_next(self._seconds)
        except FellBehind:
            log.debug("%d subscribers to events fell behind", len(group.members))
        finally:
            self._forget(group)
            group.end()

    def _forget(self, group: "_Group") -> None:
        if self._groups.get(group.subscription.wanted) is group:
            del self._groups[group.subscription.wanted]


class _Group:
    """A group of subscribers with the same filter. `members` maps each subscriber to the function that writes to its connection.

    All members have received the events up to the id `_place`. `_data` has the encoded events after `_place`. All members have received
    `_data` as well, except those in `_unwritten`.
    """

    def __init__(self, subscription: Subscription, encode: Encode) -> None:
        self.subscription, self._encode = subscription, encode
        self._place = subscription.place
        self.members: dict[Subscription, Write] = {}
        self._unwritten: list[Subscription] = []
        self._data = b""

    async def write_next(self, seconds: float) -> None:
        """Wait for the next events and write them. Without events for `seconds`, write the heartbeat."""
        events = await self.subscription.read(seconds)
        if self.subscription.is_closed:
            return
        self._begin(events)
        while self._unwritten:
            self._write(AT_ONCE)
            await asyncio.sleep(0)
        await asyncio.sleep(GATHER_SECONDS)

    def write_published(self) -> None:
        """Write all events that are published already, without waiting."""
        self._write_rest()
        while events := self.subscription.available():
            self._begin(events)
            self._write_rest()

    def _begin(self, events: Sequence[StreamEvent]) -> None:
        self._data, self._unwritten = self._encode(events), list(self.members)

    def _write_rest(self) -> None:
        self._write(len(self._unwritten))

    def _write(self, number: int) -> None:
        part, self._unwritten = self._unwritten[:number], self._unwritten[number:]
        for member in part:
            if not self.members[member](self._data):
                self._release(member)
        if not self._unwritten:
            self._place = self.subscription.place

    def leave(self, member: Subscription) -> None:
        """Remove a member. The subscription continues after the last event that was written to the member's connection."""
        self._write_rest()
        self._release(member)

    def _release(self, member: Subscription) -> None:
        if self.members.pop(member, None):
            member.place = self._place
            member.wake()

    def end(self) -> None:
        """Remove all members, because the stream has ended or the group fell behind."""
        self._write_rest()
        for member in list(self.members):
            self._release(member)
            if self.subscription.is_closed:
                member.close()
