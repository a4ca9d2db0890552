"""The text of a map file, read as HAProxy reads it; edits keep order, comments and blank lines. Pure.

Only a `#` in the first column begins a comment. What is in no line of the file goes to its end.
"""

import re
from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from haproxy_native.errors import BadValue, Place
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE
from haproxy_native.runtime.lists import LONGEST_ENTRY, MapEntry

_LINE = re.compile(r"([ \t]*)([^ \t\r\0]+)([ \t]*)(.*?)([ \t]*(?:[\r\0].*)?)$", re.DOTALL)
# HAProxy reads a line up to the first of these.
_ENDS = re.compile(r"[\r\n\0]")
_AT_BLANK = re.compile(r"[ \t]")
_BLANKS = " \t\r\n"


@dataclass
class _Block:
    """A line with an entry, and the comments and blank lines above it."""

    line: str
    entry: MapEntry
    above: list[str] = field(default_factory=list)


def read(text: str) -> list[MapEntry]:
    """The entries in their order; one without a value has an empty one."""
    return [entry for line in text.split("\n") if (entry := entry_of(line))]


def entry_of(line: str) -> MapEntry | None:
    """Parses one line, with or without its line end; None for comments and blank lines."""
    bare = content_of(line).lstrip(" \t")
    if not bare or line[0] == "#":
        return None
    key, _, value = bare.partition(" ")
    if "\t" in bare:
        key, value = _AT_BLANK.split(bare, maxsplit=1) if _AT_BLANK.search(bare) else (bare, "")
    return MapEntry(key, value.lstrip(" \t"))


def content_of(line: str) -> str:
    """Return what HAProxy reads of a line: no carriage return or NUL, nothing after one, and no blanks at the end."""
    line = line.rstrip(_BLANKS)
    if "\r" in line or "\0" in line:
        line = _ENDS.split(line, maxsplit=1)[0].rstrip(" \t")
    return line


def trouble(lines: Iterable[bytes]) -> str:
    """Why these lines cannot be sent to HAProxy as a whole map; empty where they can."""
    for number, line in enumerate(lines, 1):
        entry = entry_of(line.decode("utf-8", "surrogateescape"))
        if entry and not entry.value:
            return f"line {number} has a key without a value, which only a reload reads"
        if entry and len(line) > LONGEST_ENTRY:
            return f"line {number} is longer than {LONGEST_ENTRY} bytes, and the Runtime API takes no more"
    return ""


def with_entries(text: str, entries: Sequence[MapEntry]) -> str:
    """The text for exactly these entries in this order. Raises BadValue for one that no line can hold."""
    wanted = [MapEntry(entry.key, entry.value.strip(" \t")) for entry in entries]
    end = "\r\n" if "\r\n" in text else "\n"
    there = read(text)
    if wanted[: len(there)] == there and (wanted == there or entry_of(text.rstrip("\n").rpartition("\n")[2])):
        more = [_new(entry) + end for entry in wanted[len(there) :]]
        return text + (end if more and not text.endswith("\n") else "") + "".join(more)
    head, blocks, tail = _blocks(text)
    matched = _matched(blocks, wanted)
    gone = {id(block) for block in blocks} - {id(block) for block in matched if block}
    _pass_on(blocks, gone, tail)
    lines = head
    for entry, block in zip(wanted, matched, strict=True):
        lines += [*block.above, _changed(block, entry)] if block else [_new(entry)]
    return "".join(line if line.endswith("\n") else line + end for line in lines) + "".join(tail)


def check_value(value: str) -> None:
    """Raise BadValue for a value that HAProxy would read from a line of the file as another one."""
    if value != value.strip(_BLANKS):
        detail = f"value in body: {value!r} begins or ends with a blank, and HAProxy reads a map file without these; send it without them"
        raise BadValue(detail, place=Place(member="value"))


def changed_keys(before: str, after: str) -> dict[str, str] | None:
    """The keys that differ, each with what becomes of its entry; None where more does: comments, the order, a key that is there twice."""
    old, new = ({entry.key: entry.value for entry in read(text)} for text in (before, after))
    entries = read(after)
    there = [key for key in old if key in new]
    in_order = [entry.key for entry in entries] == [*there, *(key for key in new if key not in old)]
    if not in_order or len(read(before)) != len(old) or not _is_of_entries(before, entries, after):
        return None
    gone = {key: DELETE for key in old if key not in new}
    return gone | {key: CHANGE if key in old else CREATE for key, value in new.items() if old.get(key) != value}


def _is_of_entries(before: str, entries: Sequence[MapEntry], after: str) -> bool:
    try:
        return with_entries(before, entries) == after
    except BadValue:
        return False


def _blocks(text: str) -> tuple[list[str], list[_Block], list[str]]:
    """What stands above the first line with an entry, which belongs to the whole file; these lines; what stands below the last."""
    blocks: list[_Block] = []
    above: list[str] = []
    for line in _lines(text):
        if entry := entry_of(line):
            blocks.append(_Block(line, entry, above))
            above = []
        else:
            above.append(line)
    if not blocks:
        return above, [], []
    head, blocks[0].above = blocks[0].above, []
    return head, blocks, above


def _lines(text: str) -> list[str]:
    lines = text.split("\n")
    last = lines.pop()
    return [line + "\n" for line in lines] + ([last] if last else [])


def _matched(blocks: Sequence[_Block], wanted: Sequence[MapEntry]) -> list[_Block | None]:
    """Returns for each entry the line that holds it, else one with its key."""
    same: dict[MapEntry, deque[_Block]] = defaultdict(deque)
    for block in blocks:
        same[block.entry].append(block)
    same_entry = [same[entry].popleft() if same[entry] else None for entry in wanted]
    used = {id(block) for block in same_entry}
    left: dict[str, deque[_Block]] = defaultdict(deque)
    for block in blocks:
        if id(block) not in used:
            left[block.entry.key].append(block)
    return [block or (left[entry.key].popleft() if left[entry.key] else None) for entry, block in zip(wanted, same_entry, strict=True)]


def _pass_on(blocks: Sequence[_Block], gone: set[int], tail: list[str]) -> None:
    """Comments above an entry that is gone stand above the next one."""
    above: list[str] = []
    for block in blocks:
        if id(block) in gone:
            above += block.above
        else:
            block.above[:0] = above
            above = []
    tail[:0] = above


def _changed(block: _Block, entry: MapEntry) -> str:
    if block.entry == entry:
        return block.line
    bare = block.line.rstrip("\n")
    match = _LINE.match(bare)
    assert match
    return f"{match[1]}{match[2]}{match[3] or ' '}{_value(entry)}{match[5]}{block.line[len(bare) :]}"


def _new(entry: MapEntry) -> str:
    if not entry.key or re.search(r"[ \t\n\r\0]", entry.key) or entry.key.startswith("#"):
        raise BadValue(f"a line of a map file cannot hold the key {entry.key!r}: no blanks, and no # at its beginning")
    return f"{entry.key} {_value(entry)}".rstrip(" ")


def _value(entry: MapEntry) -> str:
    if re.search(r"[\n\r\0]", entry.value):
        raise BadValue(f"a line of a map file cannot hold the value {entry.value!r}: no line breaks")
    return entry.value


def from_lines(lines: Iterable[bytes]) -> Iterator[MapEntry]:
    """The entries of a file that is read line by line."""
    return (entry for line in lines if (entry := entry_of(line.decode("utf-8", "surrogateescape"))))
