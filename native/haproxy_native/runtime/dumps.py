"""Convert long answers piece by piece while HAProxy still writes them: statistics and maps to JSON, lists to a digest.

A map may have a million entries, and a large HAProxy prints a hundred cells for each of thousands of servers. So no answer is ever in
memory as one text. A piece may end inside a line. Each sink therefore stores the bytes after the last line feed until the next piece
arrives.

Most lines need no escaping in JSON. Each sink tests a whole piece for that with one `bytes.translate`, and assembles the JSON of all its
lines by `split`, slices and `join`; only the other lines are parsed one by one.
"""

import csv
import hashlib
import json
import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from itertools import repeat
from operator import contains, itemgetter

# Bytes that JSON strings contain as they are.
_PLAIN = bytes(set(range(32, 128)) - set(b'"\\'))
_quoted = json.JSONEncoder(ensure_ascii=False).encode


def _json(text: str) -> bytes:
    return _quoted(text).encode("utf-8", "backslashreplace")


class LineSink(ABC):
    """Receives an answer in pieces and passes on whole lines."""

    def __init__(self) -> None:
        self.start()

    def start(self) -> None:
        """Discard the data that has arrived, because another attempt to read the answer begins."""
        self._rest = b""

    def take(self, data: bytes) -> None:
        whole, line_feed, rest = data.rpartition(b"\n")
        if not line_feed:
            self._rest += data
            return
        lines, self._rest = (self._rest + whole).strip(b"\n"), rest
        if lines:
            self.take_lines(lines)

    @abstractmethod
    def take_lines(self, lines: bytes) -> None:
        """Convert one or more whole lines, without the last line feed."""


# Each entry begins with its address in memory, which changes with each reload.
_ADDRESS = re.compile(rb"^0x[0-9a-f]+ ", re.MULTILINE)


class EntriesDigest(LineSink):
    """Computes a digest (`value`) of all entries in the answer to `show map <name>` or `show acl <name>`. It depends on their order."""

    def start(self) -> None:
        super().start()
        self._hash = hashlib.sha256()

    def take_lines(self, lines: bytes) -> None:
        self._hash.update(_ADDRESS.sub(b"", lines) + b"\n")

    @property
    def value(self) -> str:
        return self._hash.hexdigest()[:16]


_ID, _KEY, _VALUE, _END = b'{"id":"', b'","key":"', b'","value":"', b'"},'


class MapDump(LineSink):
    """Converts the answer to `show map <name>` to the JSON array of all entries (`body`).

    An entry is `<reference> <key> <value>`; only the value may contain blanks.
    """

    def start(self) -> None:
        super().start()
        self._pieces: list[bytes] = []

    def take_lines(self, lines: bytes) -> None:
        if plain := _plain_entries(lines):
            self._pieces.append(plain)
            return
        for line in lines.decode("utf-8", "surrogateescape").split("\n"):
            if line.startswith("0x"):
                reference, key, value = (*line.split(" ", 2), "", "")[:3]
                self._pieces.append(b'{"id":%b,"key":%b,"value":%b},' % (_json(reference), _json(key), _json(value)))

    @property
    def body(self) -> bytes:
        last = [piece.removesuffix(b",") for piece in self._pieces[-1:]]
        return b"".join([b"[", *self._pieces[:-1], *last, b"]\n"])


def _plain_entries(lines: bytes) -> bytes:
    """Return the JSON of entries. Return empty bytes if an entry has a word that JSON escapes, or more or less than three words."""
    count = lines.count(b"\n") + 1
    if len(lines.translate(None, _PLAIN)) != count - 1 or lines.count(b" ") != 2 * count:
        return b""
    words = lines.split(b" ")
    # After the split at blanks, a value, its line feed and the next reference are one word; no other word may contain a line feed.
    if not lines.startswith(b"0x") or lines.count(b"\n0x") != count - 1 or not all(map(contains, words[2:-1:2], repeat(b"\n"))):
        return b""
    woven = [_KEY] * (4 * count + 1)
    woven[::2] = words
    woven[3::4] = [_VALUE] * count
    return b"".join([_ID, b"".join(woven).replace(b"\n", _END + _ID), _END])


STATISTICS_HEAD = "# pxname,"
_SERVER = b"2"
_KINDS = {b"0": "frontend", b"1": "backend", _SERVER: "server"}
# Templates for (proxy, server, counters). `%.0b` omits the server's name, which is FRONTEND or BACKEND in these rows.
_OBJECTS = {
    b"0": b'{"name":%b,"stats":{%.0b%b},"type":"frontend"}',
    b"1": b'{"name":%b,"stats":{%.0b%b},"type":"backend"}',
    _SERVER: b'{"backend_name":%b,"name":%b,"stats":{%b},"type":"server"}',
}
Wanted = Callable[[str, str, str], bool]
_DIGITS = b"0123456789-"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)").fullmatch


class StatisticsDump(LineSink):
    """Converts the CSV of `show stat` to one JSON object for each row (`objects`; HAProxy Management Guide, section 9.1).

    `numbers` maps each known column to whether its values are integers. Unknown columns, empty cells and malformed numbers are omitted.
    `wanted` selects rows by type (`frontend`, `backend`, `server`), name and proxy.
    """

    def __init__(self, numbers: Mapping[str, bool], wanted: Wanted | None = None) -> None:
        self._numbers, self._wanted = numbers, wanted
        super().__init__()

    def start(self) -> None:
        super().start()
        self.objects: list[bytes] = []
        self._converter: RowConverter | None = None

    def take_lines(self, lines: bytes) -> None:
        rows = lines.split(b"\n")
        if self._converter is None:
            if not lines.startswith(STATISTICS_HEAD.encode()):
                return
            self._converter = RowConverter(rows.pop(0).decode()[2:].split(","), self._numbers, self._wanted)
        is_plain = len(lines.translate(None, _PLAIN)) == lines.count(b"\n")
        convert = self._converter.convert_plain if is_plain else self._converter.convert
        self.objects += [made for row in rows if row and (made := convert(row))]

    def answer(self, address: str) -> bytes:
        """Return the body of the API's answer. It has no `stats` if there are no rows."""
        stats = b',"stats":[%b]' % b",".join(self.objects) if self.objects else b""
        return b'{"runtimeAPI":%b%b}\n' % (_json(address), stats)


class RowConverter:
    """Converts rows of one `show stat` to JSON. Incomplete rows, rows of listeners and unwanted rows become empty bytes.

    Rows with the same empty cells have the same members, and so share a template.
    """

    def __init__(self, header: Sequence[str], numbers: Mapping[str, bool], wanted: Wanted | None) -> None:
        self._wanted = wanted
        self._about = itemgetter(*(header.index(name) for name in ("type", "svname", "pxname")))
        self._commas = len(header) - 1 - (header[-1] == "")
        self._columns = [(place, name, numbers[name]) for place, name in enumerate(header) if name in numbers]
        self._members = [(b',"%b":%%b' if is_number else b',"%b":"%%b"') % name.encode() for _, name, is_number in self._columns]
        # An itemgetter with a single index returns no tuple, so a last index is added, whose value `convert_plain` drops.
        self._values = itemgetter(*(place for place, _, _ in self._columns), 0)
        self._integers = itemgetter(*(place for place, _, is_number in self._columns if is_number), header.index("type"))
        self._last = 1 + max(header.index("type"), *(place for place, _, _ in self._columns))
        self._templates: dict[bytes, bytes] = {}

    def convert_plain(self, line: bytes) -> bytes:
        """Return the JSON of a row that has neither quoted cells nor characters that JSON escapes."""
        if line.count(b",") < self._commas:
            return b""
        cells = line.split(b",", self._last)
        if b"".join(self._integers(cells)).translate(None, _DIGITS):
            return self.convert(line)
        values = self._values(cells)[:-1]
        filled = bytes(map(bool, values))
        template = self._templates.get(filled)
        if template is None:
            members = b"".join([member for member, is_filled in zip(self._members, filled, strict=True) if is_filled])
            template = self._templates[filled] = members.removeprefix(b",")
        kind, service, proxy = self._about(cells)
        if kind not in _KINDS or (self._wanted and not self._is_wanted(kind, service.decode(), proxy.decode())):
            return b""
        return _OBJECTS[kind] % (b'"%b"' % proxy, b'"%b"' % service, template % tuple(filter(None, values)))

    def convert(self, line: bytes) -> bytes:
        """Return the JSON of any row."""
        cells = next(csv.reader([line.decode("utf-8", "surrogateescape")]))
        if len(cells) <= self._commas:
            return b""
        members = [
            f'"{name}":{cell if is_number else _quoted(cell)}'
            for place, name, is_number in self._columns
            if (cell := cells[place]) and (not is_number or _NUMBER(cell))
        ]
        kind, service, proxy = self._about(cells)
        if kind.encode() not in _KINDS or (self._wanted and not self._is_wanted(kind.encode(), service, proxy)):
            return b""
        return _OBJECTS[kind.encode()] % (_json(proxy), _json(service), ",".join(members).encode("utf-8", "backslashreplace"))

    def _is_wanted(self, kind: bytes, service: str, proxy: str) -> bool:
        assert self._wanted
        return self._wanted(_KINDS[kind], service if kind == _SERVER else proxy, proxy)
