"""Maps of the running HAProxy: their names, their entries, and changes of these as steps (HAProxy Management Guide, section 9.3).

A whole map is replaced through a second version of it, which HAProxy puts in the place of the first at once.
"""

import hashlib
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import repeat
from operator import contains
from typing import NamedTuple

from haproxy_native.errors import BadValue, RuntimeAbsent, RuntimeRefused
from haproxy_native.runtime import replacement
from haproxy_native.runtime.argument import argument
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.responses import refused

# What stands before an entry is its place in memory, which is another one after each reload.
_PLACE = re.compile(rb"^0x[0-9a-f]+ ", re.MULTILINE)


class EntriesDigest:
    """Takes the answer to `show map <name>` or `show acl <name>` as it comes; `value` is the digest of all entries in their order."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self._hash, self._rest = hashlib.sha256(), b""

    def take(self, data: bytes) -> None:
        whole, sign, rest = data.rpartition(b"\n")
        if not sign:
            self._rest += data
            return
        if entries := _PLACE.sub(b"", self._rest + whole).strip(b"\n"):
            self._hash.update(entries + b"\n")
        self._rest = rest

    @property
    def value(self) -> str:
        return self._hash.hexdigest()[:16]


# Bytes that stand in JSON as they are.
_PLAIN = bytes(set(range(32, 128)) - set(b'"\\'))
_ID, _KEY, _VALUE, _END = b'{"id":"', b'","key":"', b'","value":"', b'"},'
_quoted = json.JSONEncoder(ensure_ascii=False).encode


class MapDump:
    """Takes the answer to `show map <name>` as it comes; `body` is the JSON array of all entries.

    An entry is `<reference> <key> <value>`; keys hold no blank, values may. It is converted in pieces: a map may have a million entries.
    """

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        self._pieces: list[bytes] = []
        self._rest = b""

    def take(self, data: bytes) -> None:
        whole, sign, rest = data.rpartition(b"\n")
        if not sign:
            self._rest += data
            return
        lines, self._rest = (self._rest + whole).strip(b"\n"), rest
        if lines:
            self._pieces.append(_at_once(lines) or b"".join(_one_by_one(lines)))

    @property
    def body(self) -> bytes:
        last = [piece.removesuffix(b",") for piece in self._pieces[-1:]]
        return b"".join([b"[", *self._pieces[:-1], *last, b"]\n"])


def _at_once(lines: bytes) -> bytes:
    """Nothing where an entry is more than three words of which JSON escapes no sign."""
    count = lines.count(b"\n") + 1
    if len(lines.translate(None, _PLAIN)) != count - 1 or lines.count(b" ") != 2 * count:
        return b""
    words = lines.split(b" ")
    # A line's end is in the word that holds a value and the next reference, and in no other.
    if not lines.startswith(b"0x") or lines.count(b"\n0x") != count - 1 or not all(map(contains, words[2:-1:2], repeat(b"\n"))):
        return b""
    woven = [_KEY] * (4 * count + 1)
    woven[::2] = words
    woven[3::4] = [_VALUE] * count
    return b"".join([_ID, b"".join(woven).replace(b"\n", _END + _ID), _END])


def _one_by_one(lines: bytes) -> Iterator[bytes]:
    for line in lines.decode("utf-8", "surrogateescape").split("\n"):
        if line.startswith("0x"):
            reference, key, value = (*line.split(" ", 2), "", "")[:3]
            entry = f'{{"id":{_quoted(reference)},"key":{_quoted(key)},"value":{_quoted(value)}}},'
            yield entry.encode("utf-8", "backslashreplace")


# What goes into one payload, in bytes: every socket of every version takes it.
CHUNK = 8_000
# And the longest single entry: a worker's own socket takes it where tune.bufsize has its default.
LONGEST_ENTRY = 15_000
ENTRIES_HEAD = "0x[0-9a-f]+ "
_ROW = re.compile(r"(-?\d+) \((.*?)\)(?: (.*))?$")
_LOOKED_UP = re.compile(r"type=(\w+), case=\w+, found=(?:no|yes, idx=\w+, )")
_BREAK = re.compile(r"[\n\r\0]")


class Map(NamedTuple):
    """A row of `show map`: `name` is its file, or how else it is called."""

    id: str
    name: str
    description: str


class MapEntry(NamedTuple):
    key: str
    value: str
    id: str = ""


async def loaded(runtime: Runtime) -> list[Map]:
    """Raises RuntimeFailure."""
    rows = map(_ROW.match, (await runtime.read("show map", "# id|-?[0-9]+ ")).split("\n"))
    return [Map(row[1], row[2], row[3] or "") for row in rows if row]


async def entries(runtime: Runtime, name: str) -> list[MapEntry]:
    """Returns the entries in the map's order. Raises RuntimeRefused for a map that is not loaded."""
    rows = []
    for line in (await runtime.read(f"show map {argument(name)}", ENTRIES_HEAD)).split("\n"):
        id_, _, rest = line.partition(" ")
        key, _, value = rest.partition(" ")
        if key:
            rows.append(MapEntry(key, value, id_))
    return rows


async def entry(runtime: Runtime, name: str, key: str) -> MapEntry | None:
    """The first entry with exactly this key. HAProxy looks up as the map does, so that another one may answer for it."""
    command = f"get map {argument(name)} {argument(key)}"
    answer = await runtime.send(command)
    exact = re.compile(f'key="{re.escape(key)}", value="(.*)", type="[^"]*"')
    # A line for each way in which the configuration looks the map up.
    looked_up = [(line, _LOOKED_UP.match(line)) for line in answer.split("\n")]
    for line, way in looked_up:
        if way is None:
            raise refused(answer.strip(), command)
        if match := exact.fullmatch(line, way.end()):
            return MapEntry(key, match[1])
    if any(way and way[1] == "str" and way[0].endswith("no") for _, way in looked_up):
        return None
    return next((MapEntry(entry.key, entry.value) for entry in await entries(runtime, name) if entry.key == key), None)


@dataclass(frozen=True)
class Add:
    """One more entry, behind the others. HAProxy has words of its own for a key or a value that is empty."""

    name: str
    key: str
    value: str

    @property
    def command(self) -> str:
        return f"add map {argument(self.name)} {_word(self.key)} {_word(self.value)}"

    @property
    def texts(self) -> Sequence[str]:
        return [self.command]

    async def carry_out(self, runtime: Runtime) -> None:
        await runtime.ask(self.command)

    async def take_back(self, runtime: Runtime) -> None:
        await runtime.ask(f"del map {argument(self.name)} {argument(self.key)}")


@dataclass(frozen=True)
class Set:
    """Another value for the entries of a key. Carried out when a look shows it: 2.6 takes what it does not understand, silently."""

    name: str
    key: str
    value: str
    former: str = ""

    @property
    def command(self) -> str:
        return f"set map {argument(self.name)} {argument(self.key)} {_word(self.value)}"

    @property
    def texts(self) -> Sequence[str]:
        return [self.command]

    async def carry_out(self, runtime: Runtime) -> None:
        await runtime.ask(self.command)
        now = await entry(runtime, self.name, self.key)
        if now is None or now.value != self.value:
            raise RuntimeRefused(f"unable to parse '{self.value}'.", self.command)

    async def take_back(self, runtime: Runtime) -> None:
        await runtime.ask(f"set map {argument(self.name)} {argument(self.key)} {_word(self.former)}")


@dataclass(frozen=True)
class Delete:
    """All entries of a key."""

    name: str
    key: str

    @property
    def texts(self) -> Sequence[str]:
        return [f"del map {argument(self.name)} {argument(self.key)}"]

    async def carry_out(self, runtime: Runtime) -> None:
        await runtime.ask(self.texts[0])
        # Since 3.4 one of them at a time.
        with suppress(RuntimeRefused):
            while True:
                await runtime.ask(self.texts[0])

    async def take_back(self, runtime: Runtime) -> None:
        raise RuntimeAbsent(f"the entry {self.key} of {self.name} is gone")


@dataclass(frozen=True)
class Fill:
    """All entries anew, at once. `source` gives them when they are wanted, each of at most LONGEST_ENTRY bytes and with a value."""

    name: str
    source: Callable[[], Iterable[MapEntry]]

    @property
    def texts(self) -> Sequence[str]:
        return replacement.MAP.texts(argument(self.name), "<<")

    async def carry_out(self, runtime: Runtime) -> None:
        await replacement.replace(runtime, replacement.MAP, argument(self.name), lambda adding: self._add(runtime, adding))

    async def _add(self, runtime: Runtime, adding: str) -> None:
        for payload in payloads(self.source()):
            await runtime.ask(adding, payload)

    async def take_back(self, runtime: Runtime) -> None:
        raise RuntimeAbsent(f"the former entries of {self.name} are gone")


@dataclass(frozen=True)
class Clear:
    """No entries any more."""

    name: str

    @property
    def texts(self) -> Sequence[str]:
        return [f"clear map {argument(self.name)}"]

    async def carry_out(self, runtime: Runtime) -> None:
        await runtime.ask(self.texts[0])

    async def take_back(self, runtime: Runtime) -> None:
        raise RuntimeAbsent(f"the former entries of {self.name} are gone")


def payloads(entries: Iterable[MapEntry]) -> Iterator[str]:
    """Lines of entries in pieces of about CHUNK bytes, in their order. Raises BadValue."""
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
    """Raises BadValue for what cannot be a line: blanks in a key or before a value, a line break, no value, or more than HAProxy shows."""
    if not entry.key or re.search(r"[ \t\n\r\0]", entry.key) or not entry.value.strip(" \t") or _BREAK.search(entry.value):
        text = "a key without blanks and a value without line breaks, neither of them empty"
        raise BadValue(f"an entry of a whole map has {text}; this one has {entry.key!r} and {entry.value!r}")
    if entry.value[0] in " \t":
        raise BadValue(f"the value {entry.value!r} begins with a blank, which HAProxy drops from a whole map; send it without that")
    line = f"{entry.key} {entry.value}"
    if 4 * len(line) > LONGEST_ENTRY and len(line.encode("utf-8", "surrogateescape")) > LONGEST_ENTRY:
        raise BadValue(f"an entry of a map has at most {LONGEST_ENTRY} bytes, unlike that of {entry.key[:80]!r}")
    return line


def _word(text: str) -> str:
    return argument(text) if text else ""
