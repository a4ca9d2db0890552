"""The crt-lists in the process. HAProxy puts what is added behind all other entries."""

from collections import Counter
from collections.abc import Sequence

from haproxy_native.commit.change import Member
from haproxy_native.commit.shown import Shown
from haproxy_native.editing.object_names import parsed
from haproxy_native.errors import Diverged
from haproxy_native.process_objects.object_kind import Members, ObjectKind
from haproxy_native.runtime import crt_lists
from haproxy_native.storage import crt_list
from haproxy_native.storage.crt_list import CrtListLine
from haproxy_native.storage.list_returns import ENTRIES, MOST, lines_without


class CrtLists(ObjectKind):
    async def look(self, object_: str, given: bytes | None = None) -> Shown:
        rows = await crt_lists.entries(self.runtime, parsed(object_)[1])
        lines = [CrtListLine(row.file, row.options, row.filters).text for row in rows]
        if sum(map(len, lines)) > MOST:
            raise Diverged(f"{object_} has more than {MOST} bytes of entries")
        return Shown({ENTRIES: lines})

    def without(self, object_: str, now: Members, changed: Sequence[Member]) -> Shown | None:
        there = list((now or {})[ENTRIES])
        left = lines_without(object_, there, changed[0])
        return None if left == there else Shown({ENTRIES: _appended(there, left)})

    async def make(self, object_: str, now: Shown, wanted: Shown) -> None:
        """Adds first, so that no name is without its certificate."""
        name = parsed(object_)[1]
        rows = await crt_lists.entries(self.runtime, name)
        old = [CrtListLine(row.file, row.options, row.filters) for row in rows]
        difference = crt_list.difference(old, _lines((wanted.members or {})[ENTRIES]))
        if difference is None:
            raise Diverged("entries would have to stand before others, and HAProxy only appends; a reload reads the list's file again")
        for entry in difference.added:
            await crt_lists.add(self.runtime, name, entry.file, entry.options, entry.filters)
        for place in difference.removed:
            await crt_lists.delete(self.runtime, name, rows[place].file, rows[place].line)


def _lines(texts: Sequence[str]) -> list[CrtListLine]:
    return crt_list.entries("".join(f"{text}\n" for text in texts))


def _appended(there: Sequence[str], wanted: Sequence[str]) -> list[str]:
    """What is wanted, with what comes back behind all others where no entry that it would stand behind is for one of its names."""
    left, kept, back = Counter(there), list[str](), list[str]()
    for text in wanted:
        (kept if left[text] > 0 else back).append(text)
        left[text] -= 1
        if kept and kept[-1] is text and any(not _are_apart(_names(each), _names(text)) for each in back):
            return list(wanted)
    return [*kept, *back]


def _are_apart(one: frozenset[str], other: frozenset[str]) -> bool:
    return bool(one and other) and not one & other


def _names(text: str) -> frozenset[str]:
    """Those that an entry is for; none where they stand in its certificate."""
    return frozenset(filter_.removeprefix("!").lower() for line in _lines([text]) for filter_ in line.filters)
