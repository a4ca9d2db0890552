"""`Fanout`: writes events to many subscribers at once; those who want the same share one subscription, and the bytes made of it."""

import logging
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager

from haproxy_native.background import Background
from haproxy_native.features.events.past import StreamEvent
from haproxy_native.features.events.stream import EventStream, FellBehind, Subscription, Wanted

log = logging.getLogger(__name__)
# Writes at once; False where it cannot, because the reader has not taken what was written before.
Write = Callable[[bytes], bool]
Form = Callable[[Sequence[StreamEvent]], bytes]


class Fanout:
    """`form` makes of events what is written; of none, what is written after `seconds` without any."""

    def __init__(self, stream: EventStream, form: Form, seconds: float) -> None:
        self._stream, self._form, self._seconds = stream, form, seconds
        self._groups: dict[Wanted, _Group] = {}
        self._works = Background("writing events")

    async def follow(self, subscription: Subscription, write: Write, seconds: float) -> list[StreamEvent]:
        """Events that are there already, for the caller to write. Without any: writes those that come, and returns none.

        That ends when a write cannot be done, when the subscription is closed, or after so many seconds. Raises FellBehind.
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
        group.write()
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
    """Subscribers with the same filter. Each has been sent all events up to `_place`."""

    def __init__(self, subscription: Subscription, form: Form) -> None:
        self.subscription, self._form = subscription, form
        self._place = subscription.place
        self.members: dict[Subscription, Write] = {}

    def write(self) -> None:
        """What has been published."""
        if events := self.subscription.available():
            self._write(events)

    async def next(self, seconds: float) -> None:
        events = await self.subscription.read(seconds)
        if not self.subscription.is_closed:
            self._write(events)

    def _write(self, events: Sequence[StreamEvent]) -> None:
        data = self._form(events)
        for member in [member for member, write in self.members.items() if not write(data)]:
            self._leave(member)
        self._place = self.subscription.place

    def leave(self, member: Subscription) -> None:
        if member in self.members:
            self._leave(member)

    def _leave(self, member: Subscription) -> None:
        """Lets a member read for itself from here on."""
        del self.members[member]
        member.place = self._place
        member.wake()

    def end(self) -> None:
        """Nothing more is written: the stream has ended, or what was published is not kept any more."""
        for member in list(self.members):
            self._leave(member)
            if self.subscription.is_closed:
                member.close()
