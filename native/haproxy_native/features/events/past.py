"""The last events of a stream in memory, in the order of their ids, bounded by number, size and age."""

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import lru_cache
from typing import Any, Self

# Bytes that an object of Python takes beside its content.
_OVERHEAD = 80
_ENCODE = json.JSONEncoder(ensure_ascii=False, separators=(",", ":")).encode


@dataclass(frozen=True, slots=True)
class StreamEvent:
    """`id`: the microsecond of its making, as Unix time, or a later one where that is taken. `objects`: all that it is about.

    `body` is its JSON, as it is sent.
    """

    id: int
    type: str
    objects: Sequence[str]
    body: bytes

    @property
    def memory(self) -> int:
        """About how many bytes it takes."""
        return len(self.body) + _OVERHEAD + sum(len(object_) + _OVERHEAD for object_ in self.objects)

    @classmethod
    def of(cls, id_: int, type_: str, object_: str, data: Mapping[str, Any], objects: Sequence[str] = ()) -> Self:
        text = _ENCODE({"id": str(id_), "time": _when(id_ // 1000), "type": type_, "object": object_, "data": data})
        # A byte of a file that is no UTF-8 is a lone surrogate, written as an escape.
        return cls(id_, type_, objects or (object_,), text.encode("utf-8", "backslashreplace"))


@lru_cache(maxsize=16)
def _when(milliseconds: int) -> str:
    """As RFC 3339; thousands of counters change within one millisecond."""
    return datetime.fromtimestamp(milliseconds / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Past:
    """Keeps at most `number` events that take at most so many bytes of memory, none older than `seconds`; 0 for any age.

    `floor`: an id below which events may be missing.
    """

    def __init__(self, floor: int, number: int, size: int, seconds: float = 0) -> None:
        self.floor = floor
        self._number, self._most_bytes, self._age = number, size, int(seconds * 1_000_000)
        self._events: list[StreamEvent] = []
        self._first = self._bytes = 0

    def add(self, event: StreamEvent) -> None:
        self._events.append(event)
        self._bytes += event.memory
        while self._is_too_much(event.id):
            oldest = self._events[self._first]
            self.floor, self._first, self._bytes = oldest.id, self._first + 1, self._bytes - oldest.memory
        # Removing from the front of a list moves the rest, which is not worth it for each single one.
        if self._first > len(self._events) // 2:
            del self._events[: self._first]
            self._first = 0

    def _is_too_much(self, now: int) -> bool:
        length = len(self._events) - self._first
        too_old = self._age and now - self._events[self._first].id > self._age
        return length > 1 and bool(length > self._number or self._bytes > self._most_bytes or too_old)

    def restart(self, floor: int) -> None:
        """Forgets all: nothing was recorded until now."""
        self._events.clear()
        self.floor, self._first, self._bytes = floor, 0, 0

    def after(self, id_: int, most: int) -> Sequence[StreamEvent]:
        """The oldest of those with greater ids."""
        start = bisect_right(self._events, id_, lo=self._first, key=lambda event: event.id)
        return self._events[start : start + most]
