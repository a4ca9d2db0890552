"""Read the maps and ACLs of the running HAProxy, and change them by steps (HAProxy Management Guide, section 9.3).

Each command adds, sets or deletes a single entry. A whole list is replaced through a second version of the list: `prepare` creates the
version, `add` fills it, and `commit` replaces the first version at once. Without a second version, a refusal in the middle of a payload
would leave half of it in the list, because HAProxy stores a payload line by line.

HAProxy knows a map by its file, or by the name that the configuration gives it, and an ACL by its file or as `#<id>`.
"""

import re
from collections.abc import Awaitable, Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from haproxy_native.errors import BadValue, Place, RuntimeAbsent, RuntimeConflict, RuntimeFailure, RuntimeRefused
from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.commands import Step
from haproxy_native.runtime.responses import refusal_error

# A piece of a payload, in bytes, which every socket of every version accepts.
CHUNK = 8_000
# The longest single entry, in bytes, which a worker's own socket accepts with the default of tune.bufsize.
LONGEST_ENTRY = 15_000
# How the dump of a list with entries begins.
ENTRIES_HEAD = "0x[0-9a-f]+ "
# The start of both refusals of a version that this worker has not prepared, or has already committed: "in the future" and "out of range"
# (pattern.c).
_OTHER_VERSION = "Version number"
_VERSION = re.compile(r"New version created: (\d+)")
_MAP = re.compile(r"(-?\d+) \((.*?)\)(?: (.*))?$")
_LOOKED_UP = re.compile(r"type=(\w+), case=\w+, found=(?:no|yes, idx=\w+, )")
_BREAK = re.compile(r"[\n\r\0]")
# A file's name may contain anything; only certain words follow it.
_ACL = re.compile(r"(?P<id>\d+) \((?P<file>.*?)\) (?P<rest>(?:pattern loaded from|acl '|used by).*)")
_OTHER_ACL = re.compile(r"(?P<id>\d+) \((?P<file>.*?)\) ?(?P<rest>.*)")
_SAMPLE = re.compile(r"acl '(.*?)' file")


class LoadedMap(NamedTuple):
    """A row of `show map`."""

    id: str
    # Its file, or its name in the configuration.
    name: str
    description: str


class MapEntry(NamedTuple):
    key: str
    value: str
    # Its address in the worker's memory, by which HAProxy refers to it.
    id: str = ""


async def list_maps(runtime: Runtime) -> list[LoadedMap]:
    """Return the maps that the worker has loaded. Raises RuntimeFailure."""
    rows = map(_MAP.match, (await runtime.read_dump("show map", "# id|-?[0-9]+ ")).split("\n"))
    return [LoadedMap(row[1], row[2], row[3] or "") for row in rows if row]


def show_map(name: str) -> str:
    return f"show map {argument(name)}"


async def read_map(runtime: Runtime, name: str) -> list[MapEntry]:
    """Return the entries in the map's order. Raises RuntimeRefused for a map that is not loaded."""
    rows = []
    for line in (await runtime.read_dump(show_map(name), ENTRIES_HEAD)).split("\n"):
        id_, _, rest = line.partition(" ")
        key, _, value = rest.partition(" ")
        if key:
            rows.append(MapEntry(key, value, id_))
    return rows


async def find_entry(runtime: Runtime, name: str, key: str) -> MapEntry | None:
    """Return the first entry with exactly this key.

    `get map` looks a key up by the map's match method, such as a prefix match, so it may answer with the entry of another key. In that case
    the whole map is read.
    """
    command = f"get map {argument(name)} {argument(key)}"
    answer = await runtime.send(command)
    exact = re.compile(f'key="{re.escape(key)}", value="(.*)", type="[^"]*"')
    # The answer has one line for each match method with which the configuration uses the map.
    lookups = [(line, _LOOKED_UP.match(line)) for line in answer.split("\n")]
    for line, lookup in lookups:
        if lookup is None:
            raise refusal_error(answer.strip(), command)
        if match := exact.fullmatch(line, lookup.end()):
            return MapEntry(key, match[1])
    if any(lookup and lookup[1] == "str" and lookup[0].endswith("no") for _, lookup in lookups):
        return None
    return next((MapEntry(entry.key, entry.value) for entry in await read_map(runtime, name) if entry.key == key), None)


def add_entry(name: str, key: str, value: str) -> Step:
    """Append an entry. An empty value is sent to HAProxy, which refuses it with its own message."""
    return _command_step(f"add map {argument(name)} {argument(key)} {_word(value)}")


def set_entry(name: str, key: str, value: str) -> Step:
    """Set the value of all entries with a key, and read it back: HAProxy 2.6 silently accepts a value that it cannot parse."""
    command = f"set map {argument(name)} {argument(key)} {_word(value)}"

    async def apply(runtime: Runtime) -> None:
        await runtime.execute(command)
        entry = await find_entry(runtime, name, key)
        if entry is None or entry.value != value:
            raise RuntimeRefused(f"unable to parse '{value}'.", command)

    return Step([command], apply)


def delete_entries(name: str, key: str) -> Step:
    """Delete all entries with a key."""
    command = f"del map {argument(name)} {argument(key)}"

    async def apply(runtime: Runtime) -> None:
        await runtime.execute(command)
        # Since 3.4 each command deletes only one of the entries.
        with suppress(RuntimeRefused):
            while True:
                await runtime.execute(command)

    return Step([command], apply)


def replace_map(name: str, source: Callable[[], Iterable[MapEntry]]) -> Step:
    """Replace all entries of a map at once.

    `source` returns the entries when they are needed. Each has a value and at most LONGEST_ENTRY bytes.
    """

    async def fill(runtime: Runtime, adding: str) -> None:
        for payload in payloads(source()):
            await runtime.execute(adding, payload)

    return replacing_step("{} map {}", argument(name), "<<", fill)


def clear_map(name: str) -> Step:
    return _command_step(f"clear map {argument(name)}")


def payloads(entries: Iterable[MapEntry]) -> Iterator[str]:
    """Yield payloads of about CHUNK bytes with one line for each entry, in order. Raises BadValue like `payload_line`."""
    lines: list[str] = []
    size = 0
    for entry in entries:
        line = payload_line(entry)
        length = len(line.encode("utf-8", "surrogateescape")) + 1
        if lines and size + length > CHUNK:
            yield "\n".join(lines)
            lines, size = [], 0
        lines.append(line)
        size += length
    if lines:
        yield "\n".join(lines)


def payload_line(entry: MapEntry) -> str:
    """Return an entry as a line of a payload.

    Raises BadValue for an empty key or value, blanks in the key or before the value, a line break, and more than LONGEST_ENTRY bytes.
    """
    if not entry.key or re.search(r"[ \t\n\r\0]", entry.key):
        detail = f"key: the key of an entry must not be empty or contain blanks, like {entry.key!r}"
        raise BadValue(detail, place=Place(member="key"))
    if not entry.value.strip(" \t") or _BREAK.search(entry.value):
        detail = f"value: the value of an entry must not be empty or contain line breaks, like that of {entry.key!r}"
        raise BadValue(detail, place=Place(member="value"))
    if entry.value[0] in " \t":
        detail = f"value: {entry.value!r} begins with a blank, which HAProxy drops when a whole map is sent; send it without"
        raise BadValue(detail, place=Place(member="value"))
    line = f"{entry.key} {entry.value}"
    if 4 * len(line) > LONGEST_ENTRY and len(line.encode("utf-8", "surrogateescape")) > LONGEST_ENTRY:
        detail = f"value: the entry {entry.key[:80]!r} has more than {LONGEST_ENTRY} bytes"
        raise BadValue(detail, place=Place(member="value"))
    return line


def _word(text: str) -> str:
    return argument(text) if text else ""


@dataclass(frozen=True)
class LoadedAcl:
    """A row of `show acl`."""

    id: str
    # Its file, or the sample that an ACL of the configuration tests (`src`, `path`).
    name: str
    description: str
    file: str = ""


def parse_acls(text: str) -> Iterator[LoadedAcl]:
    """Parse an answer to `show acl`."""
    for line in text.split("\n"):
        if match := _ACL.fullmatch(line) or _OTHER_ACL.fullmatch(line):
            sample = _SAMPLE.search(match["rest"])
            yield LoadedAcl(match["id"], match["file"] or (sample[1] if sample else ""), match["rest"], match["file"])


def parse_patterns(text: str) -> Iterator[tuple[str, str]]:
    """Parse an answer to `show acl #<id>` to (reference, pattern). Only a line feed ends a line."""
    for line in text.split("\n"):
        reference, blank, pattern = line.partition(" ")
        if blank:
            yield reference, pattern


async def list_acls(runtime: Runtime) -> list[LoadedAcl]:
    """Return the ACLs that the worker has loaded. Raises RuntimeFailure."""
    return list(parse_acls(await runtime.read_dump("show acl", "# id")))


def show_acl(name: str) -> str:
    return f"show acl {_acl_argument(name)}"


async def read_acl(runtime: Runtime, name: str) -> list[tuple[str, str]]:
    """Return (reference, pattern) in the ACL's order. Raises RuntimeRefused for an ACL that does not exist."""
    return list(parse_patterns(await runtime.read_dump(show_acl(name), ENTRIES_HEAD)))


def _acl_argument(name: str) -> str:
    return f"#{argument(name[1:])}" if name.startswith("#") else argument(name)


def add_pattern(name: str, pattern: str) -> Step:
    return _command_step(f"add acl {_acl_argument(name)} {argument(pattern)}")


def delete_pattern(name: str, reference: str) -> Step:
    return _command_step(f"del acl {_acl_argument(name)} #{argument(reference)}")


def replace_patterns(name: str, source: Callable[[], Iterable[str]]) -> Step:
    """Replace all patterns of an ACL at once. `source` returns the patterns when they are needed."""

    async def fill(runtime: Runtime, adding: str) -> None:
        # `add acl` takes no payload.
        commands = [f"{adding} {argument(pattern)}" for pattern in source()]
        for command, answer in zip(commands, await runtime.send_each(commands), strict=True):
            if (refusal := answers.refusal(answer)) is not None:
                raise refusal_error(refusal, command)

    return replacing_step("{} acl {}", _acl_argument(name), "<pattern>", fill)


def _command_step(command: str) -> Step:
    return Step([command], lambda runtime: runtime.execute(command))


def replacing_step(form: str, name: str, addition: str, fill: Callable[[Runtime, str], Awaitable[None]]) -> Step:
    """Return the step that replaces all entries of a list at once.

    `form`: the template of the commands, with places for a verb and the rest. `name`: quoted for a command. `addition`: stands for the
    entries in the texts. `fill` gets the start of the commands that add entries, such as `add map @2 NAME`, and sends them. If `fill`
    raises, the list stays as it was and the new version is discarded. Raises RuntimeAbsent if the worker was replaced meanwhile.
    """
    prepare = form.format("prepare", name)

    async def apply(runtime: Runtime) -> None:
        async with runtime.versions:
            answer = await runtime.send(prepare)
            created = _VERSION.match(answer)
            if not created:
                raise refusal_error(answers.first_words(answer), prepare)
            version = f"@{created[1]} {name}"
            try:
                await fill(runtime, form.format("add", version))
                await runtime.execute(form.format("commit", version))
            except BaseException as error:
                if isinstance(error, RuntimeConflict) and _OTHER_VERSION in error.answer:
                    raise RuntimeAbsent(f"{runtime.worker_place}: the worker was replaced before the new content was complete") from error
                with suppress(RuntimeFailure):
                    await runtime.send(form.format("clear", version))
                raise

    version = f"@<version> {name}"
    return Step([prepare, form.format("add", f"{version} {addition}"), form.format("commit", version)], apply)
