"""`show stat` as JSON, converted in pieces (HAProxy Management Guide, section 9.1).

A large HAProxy has a hundred cells for each of thousands of servers. Rows with the same empty cells become JSON by the same template;
only what JSON or CSV would have to escape is looked at cell by cell.
"""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

HEAD = "# pxname,"
SERVER = b"2"
KINDS = {b"0": "frontend", b"1": "backend", SERVER: "server"}
# Of proxy, server and counters; a frontend's or backend's row calls itself FRONTEND or BACKEND.
_OBJECTS = {
    b"0": b'{"name":%b,"stats":{%.0b%b},"type":"frontend"}',
    b"1": b'{"name":%b,"stats":{%.0b%b},"type":"backend"}',
    SERVER: b'{"backend_name":%b,"name":%b,"stats":{%b},"type":"server"}',
}
Wanted = Callable[[str, str, str], bool]
# Bytes that stand in JSON as they are, and those of integers.
_PLAIN = bytes(set(range(32, 128)) - set(b'"\\'))
_DIGITS = b"0123456789-"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)").fullmatch
_quoted = json.JSONEncoder(ensure_ascii=False).encode


class Counters:
    """Takes the answer as it comes; `objects` holds one JSON object for each row that is `wanted` by type (`frontend`, `backend`,
    `server`), name and proxy.

    `numbers`: whether each known column is an integer; unknown columns, empty cells and numbers that are none are left out.
    """

    def __init__(self, numbers: Mapping[str, bool], wanted: Wanted | None = None) -> None:
        self._numbers, self._wanted = numbers, wanted
        self.start()

    def start(self) -> None:
        self.objects: list[bytes] = []
        self._rest = b""
        self._reader: Reader | None = None

    def take(self, data: bytes) -> None:
        whole, sign, rest = data.rpartition(b"\n")
        if not sign:
            self._rest += data
            return
        text, self._rest = self._rest + whole, rest
        lines = text.split(b"\n")
        if self._reader is None:
            if not text.startswith(HEAD.encode()):
                return
            self._reader = Reader(lines.pop(0).decode()[2:].split(","), self._numbers, self._wanted)
        make = self._reader.at_once if len(text.translate(None, _PLAIN)) == text.count(b"\n") else self._reader.cell_by_cell
        self.objects += [made for line in lines if line and (made := make(line))]

    def answer(self, address: str) -> bytes:
        """`stats` is absent where there is none."""
        stats = b',"stats":[%b]' % b",".join(self.objects) if self.objects else b""
        return b'{"runtimeAPI":%b%b}\n' % (_json(address), stats)


class Reader:
    """The columns of one answer. A row that is not wanted, of a listener or cut short becomes nothing."""

    def __init__(self, header: Sequence[str], numbers: Mapping[str, bool], wanted: Wanted | None) -> None:
        self._wanted = wanted
        self._about = itemgetter(*(header.index(name) for name in ("type", "svname", "pxname")))
        self._commas = len(header) - 1 - (header[-1] == "")
        self._columns = [(place, name, numbers[name]) for place, name in enumerate(header) if name in numbers]
        self._members = [(b',"%b":%%b' if is_number else b',"%b":"%%b"') % name.encode() for _, name, is_number in self._columns]
        # Of a single place an itemgetter gives no tuple.
        self._values = itemgetter(*(place for place, _, _ in self._columns), 0)
        self._integers = itemgetter(*(place for place, _, is_number in self._columns if is_number), header.index("type"))
        self._last = 1 + max(header.index("type"), *(place for place, _, _ in self._columns))
        self._templates: dict[bytes, bytes] = {}

    def at_once(self, line: bytes) -> bytes:
        """Returns the JSON of a row without anything to escape."""
        if line.count(b",") < self._commas:
            return b""
        cells = line.split(b",", self._last)
        if b"".join(self._integers(cells)).translate(None, _DIGITS):
            return self.cell_by_cell(line)
        values = self._values(cells)[:-1]
        empty = bytes(map(bool, values))
        template = self._templates.get(empty)
        if template is None:
            template = self._templates[empty] = b"".join([member for member, there in zip(self._members, empty, strict=True) if there])[1:]
        kind, service, proxy = self._about(cells)
        if kind not in KINDS or (self._wanted and not self._is_wanted(kind, service.decode(), proxy.decode())):
            return b""
        return _OBJECTS[kind] % (b'"%b"' % proxy, b'"%b"' % service, template % tuple(filter(None, values)))

    def cell_by_cell(self, line: bytes) -> bytes:
        """HAProxy quotes a cell that holds a comma or a quote."""
        cells = next(csv.reader([line.decode("utf-8", "surrogateescape")]))
        if len(cells) <= self._commas:
            return b""
        members = [
            f'"{name}":{cell if is_number else _quoted(cell)}'
            for place, name, is_number in self._columns
            if (cell := cells[place]) and (not is_number or _NUMBER(cell))
        ]
        kind, service, proxy = self._about(cells)
        if kind.encode() not in KINDS or (self._wanted and not self._is_wanted(kind.encode(), service, proxy)):
            return b""
        return _OBJECTS[kind.encode()] % (_json(proxy), _json(service), ",".join(members).encode("utf-8", "backslashreplace"))

    def _is_wanted(self, kind: bytes, service: str, proxy: str) -> bool:
        assert self._wanted
        return self._wanted(KINDS[kind], service if kind == SERVER else proxy, proxy)


def _json(text: str) -> bytes:
    return _quoted(text).encode("utf-8", "backslashreplace")
