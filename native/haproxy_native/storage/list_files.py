"""Parse and edit the text of list files: maps, patterns of ACLs, and the maps of splits.

Texts are parsed as HAProxy reads them. An edit gets the entries that the file must have, and changes as little of the text as possible: it
keeps the order, comments, blank lines and the spelling of remaining lines. Only a `#` in the first column begins a comment.

A line of a map has a key, blanks and a value (HAProxy Configuration Manual, section 7.3.1, `map`). A pattern file has one pattern in each
line (section 7.1, `-f`). A split is a map from buckets to backends. The first line of a split, a comment, stores the shares that clients
requested.
"""

import json
import re
from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from typing import Any

from haproxy_native.errors import BadValue, Place
from haproxy_native.planning.touches import CHANGE, CREATE, DELETE
from haproxy_native.runtime.lists import LONGEST_ENTRY, MapEntry
from haproxy_native.text.pieces import split_lines

_MAP_LINE = re.compile(r"([ \t]*)([^ \t\r\0]+)([ \t]*)(.*?)([ \t]*(?:[\r\0].*)?)$", re.DOTALL)
# HAProxy reads a line of a map up to the first of these characters.
_LINE_ENDS = re.compile(r"[\r\n\0]")
_AT_BLANK = re.compile(r"[ \t]")
_BLANKS = " \t\r\n"


@dataclass
class _Block:
    """A line with an entry, and the comments and blank lines above it."""

    line: str
    entry: MapEntry
    above: list[str] = field(default_factory=list)


def parse_map(text: str) -> list[MapEntry]:
    """Return the entries in their order; the value may be empty."""
    return [entry for line in text.split("\n") if (entry := parse_map_line(line))]


def parse_map_line(line: str) -> MapEntry | None:
    """Parse one line, which may have a line end. Return None for comments and blank lines."""
    bare = content_of(line).lstrip(" \t")
    if not bare or line[0] == "#":
        return None
    key, _, value = bare.partition(" ")
    if "\t" in bare:
        key, value = _AT_BLANK.split(bare, maxsplit=1) if _AT_BLANK.search(bare) else (bare, "")
    return MapEntry(key, value.lstrip(" \t"))


def content_of(line: str) -> str:
    """Return the part of a line that HAProxy reads: everything before a carriage return or NUL, without trailing blanks."""
    line = line.rstrip(_BLANKS)
    if "\r" in line or "\0" in line:
        line = _LINE_ENDS.split(line, maxsplit=1)[0].rstrip(" \t")
    return line


def payload_obstacle(lines: Iterable[bytes]) -> str:
    """Return why these lines of a map cannot be sent to HAProxy as a payload; empty if they can."""
    for number, line in enumerate(lines, 1):
        entry = parse_map_line(line.decode("utf-8", "surrogateescape"))
        if entry and not entry.value:
            return f"line {number} has a key without a value, which only a reload reads"
        if entry and len(line) > LONGEST_ENTRY:
            return f"line {number} is longer than {LONGEST_ENTRY} bytes, the limit of the Runtime API"
    return ""


def edit_map(text: str, entries: Sequence[MapEntry]) -> str:
    """Return the text edited to have exactly these entries, in this order. Raises BadValue for an entry that does not fit in a line."""
    wanted = [MapEntry(entry.key, entry.value.strip(" \t")) for entry in entries]
    end = "\r\n" if "\r\n" in text else "\n"
    present = parse_map(text)
    if wanted[: len(present)] == present and (wanted == present or parse_map_line(text.rstrip("\n").rpartition("\n")[2])):
        appended = [_new_line(entry) + end for entry in wanted[len(present) :]]
        return text + (end if appended and not text.endswith("\n") else "") + "".join(appended)
    head, blocks, tail = _split_blocks(text)
    matched = _match_blocks(blocks, wanted)
    used = {id(block) for block in matched if block}
    # Comments above a deleted line move to the next line.
    comments: list[str] = []
    for block in blocks:
        if id(block) in used:
            block.above[:0] = comments
            comments = []
        else:
            comments += block.above
    tail[:0] = comments
    lines = head
    for entry, match in zip(wanted, matched, strict=True):
        if match is None:
            lines.append(_new_line(entry))
        elif match.entry == entry:
            lines += [*match.above, match.line]
        else:
            bare = match.line.rstrip("\n")
            parts = _MAP_LINE.match(bare)
            assert parts
            edited = f"{parts[1]}{parts[2]}{parts[3] or ' '}{_check_breaks(entry.value)}{parts[5]}"
            lines += [*match.above, edited + match.line[len(bare) :]]
    return "".join(line if line.endswith("\n") else line + end for line in lines) + "".join(tail)


def check_map_value(value: str) -> None:
    """Raise BadValue for a value that a file cannot have.

    Such a value has a line break, or begins or ends with a blank, which HAProxy drops when it reads a file.
    """
    if value != value.strip(_BLANKS):
        detail = f"value in body: {value!r} begins or ends with a blank, which HAProxy drops when it reads a map file; send it without"
        raise BadValue(detail, place=Place(member="value"))
    _check_breaks(value)


def changed_keys(before: str, after: str) -> dict[str, str] | None:
    """Return the keys whose entries differ between two texts of a map, each with CREATE, CHANGE or DELETE.

    Returns None if anything else differs (a comment, the order), or if a key occurs twice.
    """
    old, new = ({entry.key: entry.value for entry in parse_map(text)} for text in (before, after))
    entries = parse_map(after)
    remaining = [key for key in old if key in new]
    in_order = [entry.key for entry in entries] == [*remaining, *(key for key in new if key not in old)]
    if not in_order or len(parse_map(before)) != len(old):
        return None
    try:
        if edit_map(before, entries) != after:
            return None
    except BadValue:
        return None
    deleted = {key: DELETE for key in old if key not in new}
    return deleted | {key: CHANGE if key in old else CREATE for key, value in new.items() if old.get(key) != value}


def _split_blocks(text: str) -> tuple[list[str], list[_Block], list[str]]:
    """Split a text into (lines above the first entry, blocks with an entry each, lines after the last entry)."""
    blocks: list[_Block] = []
    above: list[str] = []
    for line in split_lines(text):
        if entry := parse_map_line(line):
            blocks.append(_Block(line, entry, above))
            above = []
        else:
            above.append(line)
    if not blocks:
        return above, [], []
    head, blocks[0].above = blocks[0].above, []
    return head, blocks, above


def _match_blocks(blocks: Sequence[_Block], entries: Sequence[MapEntry]) -> list[_Block | None]:
    """Return a block for each entry: a block with the same entry, or else with the same key; None if the entry needs a new line."""
    same: dict[MapEntry, deque[_Block]] = defaultdict(deque)
    for block in blocks:
        same[block.entry].append(block)
    same_entry = [same[entry].popleft() if same[entry] else None for entry in entries]
    used = {id(block) for block in same_entry}
    left: dict[str, deque[_Block]] = defaultdict(deque)
    for block in blocks:
        if id(block) not in used:
            left[block.entry.key].append(block)
    return [block or (left[entry.key].popleft() if left[entry.key] else None) for entry, block in zip(entries, same_entry, strict=True)]


def _new_line(entry: MapEntry) -> str:
    if not entry.key or re.search(r"[ \t\n\r\0]", entry.key) or entry.key.startswith("#"):
        detail = f"a line of a map file cannot contain the key {entry.key!r}: a key has no blanks and does not begin with #"
        raise BadValue(detail, place=Place(member="key"))
    return f"{entry.key} {_check_breaks(entry.value)}".rstrip(" ")


def _check_breaks(value: str) -> str:
    """Return a value. Raises BadValue if it has a line break."""
    if _LINE_ENDS.search(value):
        detail = f"a line of a map file cannot contain the value {value!r}: a value has no line breaks"
        raise BadValue(detail, place=Place(member="value"))
    return value


_PATTERN_ENDS = re.compile(r"[\r\n\0]")


def parse_patterns(text: str) -> list[str]:
    return [pattern for line in text.split("\n") if (pattern := parse_pattern(line))]


def parse_pattern(line: str) -> str:
    """Return the pattern of a line, without leading blanks; empty for comments and blank lines. The line may have a line end."""
    return "" if line.startswith("#") else _PATTERN_ENDS.split(line, maxsplit=1)[0].lstrip(" \t")


def edit_patterns(text: str, patterns: Sequence[str]) -> str:
    """Return the text edited to have exactly these patterns. New patterns are appended.

    Raises BadValue for a pattern that does not fit in a line.
    """
    left = Counter(patterns)
    lines = []
    for line in split_lines(text):
        pattern = parse_pattern(line)
        if not pattern or left[pattern]:
            lines.append(line)
            left[pattern] -= 1
    end = "\r\n" if "\r\n" in text else "\n"
    added: deque[str] = deque()
    # If a pattern is repeated, its last occurrences are the new ones.
    for pattern in reversed(patterns):
        if left[pattern] > 0:
            left[pattern] -= 1
            added.appendleft(pattern)
    for pattern in added:
        if not pattern or pattern[0] in "# \t" or re.search(r"[\n\r\0]", pattern):
            detail = f"a line of a file cannot contain the pattern {pattern!r}: it must not begin with # or a blank, or have line breaks"
            raise BadValue(detail, place=Place(member="value"))
    if lines and added and not lines[-1].endswith("\n"):
        lines[-1] += end
    return "".join([*lines, *(pattern + end for pattern in added)])


_SPLIT_HEAD = "# split "
# The number of entries in the map: each maps one hundredth of all requests to a backend.
BUCKETS = 100


@dataclass(frozen=True)
class Split:
    """The shares that clients requested for a split."""

    by: str
    weights: Mapping[str, float]
    # Unix time of the last change.
    since: float
    # The number of requests of each backend up to that time, by process.
    before: Mapping[str, Mapping[str, int]] = field(default_factory=dict)


def format_split(split: Split, buckets: Sequence[str]) -> str:
    lines = [_SPLIT_HEAD + json.dumps(asdict(split)), *(f"{bucket} {name}" for bucket, name in enumerate(buckets))]
    return "\n".join(lines) + "\n"


def parse_split(text: str) -> Split | None:
    """Parse a split; None if the file is another map."""
    head = text.partition("\n")[0]
    with suppress(ValueError, TypeError, KeyError, RecursionError):
        if head.startswith(_SPLIT_HEAD):
            members: dict[str, Any] = json.loads(head.removeprefix(_SPLIT_HEAD))
            return Split(str(members["by"]), dict(members["weights"]), float(members["since"]), dict(members["before"]))
    return None


def rename_backend(text: str, old: str, new: str) -> str:
    """Return the text of a split with a backend renamed in its first line, but not in its entries. Return any other map unchanged."""
    if (split := parse_split(text)) is None:
        return text
    before = {process: _rename_key(counts, old, new) for process, counts in split.before.items()}
    head = asdict(replace(split, weights=_rename_key(split.weights, old, new), before=before))
    return "\n".join([_SPLIT_HEAD + json.dumps(head), text.partition("\n")[2]])


def _rename_key(members: Mapping[str, Any], old: str, new: str) -> Mapping[str, Any]:
    return {new if name == old else name: value for name, value in members.items()}


def parse_buckets(text: str) -> list[str]:
    """Return the backend of each bucket, in order; an empty text for a bucket without a line."""
    entries = {entry.key: entry.value for entry in parse_map(text)}
    return [entries.get(str(bucket), "") for bucket in range(BUCKETS)]
