"""What changes of a list in the process alone did to its entries, and the list without one of them.

A change of one entry is kept as that entry's member; one of the whole list as all entries before and after it, up to MOST bytes.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from typing import Any, TypeVar

from haproxy_native.commit.change import Member
from haproxy_native.editing.secrets import BLANK
from haproxy_native.errors import Conflict, RuntimeRefused
from haproxy_native.planning.merging import content_without
from haproxy_native.runtime.maps import MapEntry

VALUE, ENTRIES = "value", "entries"
MOST = 1 << 20
# For all entries of a list that is to be changed.
KEEP_SECONDS = 0.5
Entries = TypeVar("Entries")


async def in_time(entries: Callable[[], Awaitable[Entries]]) -> Entries | None:
    """All entries before a change; None where they take long. A list that is not loaded is reported by the command that would change it."""
    with suppress(TimeoutError, RuntimeRefused):
        async with asyncio.timeout(KEEP_SECONDS):
            return await entries()
    return None


def whole(object_: str, old: Sequence[str] | None, new: Sequence[str] | None) -> Member:
    """All entries before and after a change, None for what is too much to be kept."""
    return Member(object_, ENTRIES, *(None if lines is None or sum(map(len, lines)) > MOST else list(lines) for lines in (old, new)))


def lines_without(name: str, now: Sequence[str], change: Member) -> list[str]:
    """The entries without a change of the whole list, among later ones. Raises Conflict with both sides."""
    if change.old is None or change.new is None:
        raise Conflict(f"{name} had more than {MOST} bytes of entries, which were not kept; a reload reads its file again")
    there, before, after = (
        "".join(f"{line}\n" for line in lines).encode("utf-8", "surrogateescape") for lines in (now, change.old, change.new)
    )
    left = content_without(name, there, before, after, BLANK) or b""
    return left.decode("utf-8", "surrogateescape").splitlines()


def entries_without(name: str, now: Sequence[MapEntry], change: Member, key: str, file: Sequence[MapEntry]) -> list[MapEntry]:
    """The entries of a map without a change of those with one key. What was deleted is put where the `file` has it, else at the end.

    Raises Conflict with both sides.
    """
    values = [entry.value for entry in now if entry.key == key]
    if set(values) == ({change.old} if change.old is not None else set()):
        return list(now)
    if set(values) != ({change.new} if change.new is not None else set()):
        by_now = " and ".join(map(repr, dict.fromkeys(values))) or "gone"
        back = "no such entry" if change.old is None else repr(change.old)
        raise Conflict(f"the value of {key} in {name} is {by_now} by now, not {_or_gone(change.new)}; to come back: {back}")
    if change.old is None:
        return [entry for entry in now if entry.key != key]
    if change.new is not None:
        return [entry._replace(value=change.old) if entry.key == key else entry for entry in now]
    place = _place(now, key, file)
    return [*now[:place], MapEntry(key, change.old), *now[place:]]


def _or_gone(value: Any) -> str:
    return "gone" if value is None else repr(value)


def _place(now: Sequence[MapEntry], key: str, file: Sequence[MapEntry]) -> int:
    """Before the first of the entries that stand behind it in the file."""
    keys = [entry.key for entry in file]
    behind = set(keys[keys.index(key) + 1 :]) if key in keys else set()
    return next((place for place, entry in enumerate(now) if entry.key in behind), len(now))


def pattern_without(name: str, now: Sequence[str], change: Member) -> list[str]:
    """The patterns of an ACL without one that was added, or with one that was deleted. Raises Conflict."""
    pattern = change.new if change.old is None else change.old
    if (pattern in now) == (change.old is not None):
        return list(now)
    if change.old is not None:
        return [*now, pattern]
    place = len(now) - 1 - list(reversed(now)).index(pattern)
    return [*now[:place], *now[place + 1 :]]
