"""What a change of the process alone does to an object, by what HAProxy shows of it before and after."""

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Protocol

from haproxy_native.commit.change import Content, Member
from haproxy_native.errors import NativeError

# For each look; an object that takes longer is entered without its members.
LOOK_SECONDS = 0.5


@dataclass(frozen=True)
class Shown:
    """An object in the running process. `members`: as HAProxy shows them, None where there is no such object.

    `data`: what it was made of, None where that is not known. It may be secret: the history keeps it, and no answer shows it.
    """

    members: Mapping[str, Any] | None
    data: bytes | None = field(default=None, repr=False)


class ProcessKind(Protocol):
    """Objects of one kind in the running process (native/haproxy_native/process_objects)."""

    async def look(self, object_: str, given: bytes | None = None) -> Shown:
        """`given`: what the change that was just made has brought. Raises NativeError."""


async def looked(kind: ProcessKind | None, object_: str, given: bytes | None = None) -> Shown | None:
    """None where nothing of the object is known."""
    if kind is None:
        return None
    with suppress(NativeError, TimeoutError):
        async with asyncio.timeout(LOOK_SECONDS):
            return await kind.look(object_, given)
    return None


def members_changed(object_: str, before: Shown | None, after: Shown | None) -> list[Member]:
    """The members that differ; the whole object, as the member without a name, where it came or went."""
    if before is None or after is None or before.members == after.members:
        return []
    old, new = before.members, after.members
    if old is None or new is None:
        return [Member(object_, "", old, new)]
    return [Member(object_, name, old.get(name), new.get(name)) for name in {**old, **new} if old.get(name) != new.get(name)]


def content_changed(object_: str, before: Shown | None, after: Shown | None) -> Content | None:
    """What it was made of before and after, as far as that is known."""
    old, new = (None if shown is None else shown.data for shown in (before, after))
    return None if old is None and new is None else Content(object_, object_, old, new)
