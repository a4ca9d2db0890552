"""`show stat` as JSON: CSV in, the text of a JSON array out (HAProxy Management Guide, section 9.1).

A large HAProxy has a hundred cells for each of thousands of servers, so a row becomes JSON by joining, without values in between.
"""

import csv
import json
import re
from collections.abc import Callable, Mapping, Sequence
from operator import itemgetter

HEAD = "# pxname,"
FRONTEND, BACKEND, SERVER = "0", "1", "2"
Wanted = Callable[[str, str, str], bool]
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)").fullmatch
_NEGATIVE = re.compile(r",-[1-9]").findall
_quoted = json.JSONEncoder(ensure_ascii=False).encode


class Counters:
    """Takes the answer as it comes; `objects` holds one JSON object for each row that is `wanted` by type (`frontend`, `backend`,
    `server`), name and proxy.

    `numbers`: whether each known column is an integer; unknown columns, empty cells and numbers that are none are left out.
    """

    def __init__(self, numbers: Mapping[str, bool], wanted: Wanted) -> None:
        self._numbers, self._wanted = numbers, wanted
        self.start()

    def start(self) -> None:
        self.objects: list[str] = []
        self._rest = b""
        self._reader: Reader | None = None

    def take(self, data: bytes) -> None:
        whole, sign, rest = data.rpartition(b"\n")
        if not sign:
            self._rest += data
            return
        lines, self._rest = (self._rest + whole).decode("utf-8", "surrogateescape").split("\n"), rest
        if self._reader is None:
            if not lines[0].startswith(HEAD):
                return
            self._reader = Reader(lines.pop(0).removeprefix("# ").split(","), self._numbers)
        make, wanted = self._reader.object, self._wanted
        self.objects += [said for line in lines if line and (said := make(line, wanted)) is not None]

    def answer(self, address: str) -> bytes:
        """`stats` is absent where there is none."""
        stats = f',"stats":[{",".join(self.objects)}]' if self.objects else ""
        return f'{{"runtimeAPI":{_quoted(address)}{stats}}}\n'.encode("utf-8", "backslashreplace")


class Reader:
    """The columns of one answer."""

    def __init__(self, header: Sequence[str], numbers: Mapping[str, bool]) -> None:
        self._about = itemgetter(*(header.index(name) for name in ("type", "svname", "pxname")))
        self._commas = len(header) - 1 - (header[-1] == "")
        self._numbers = Columns([(place, name) for place, name in enumerate(header) if numbers.get(name) is True])
        self._texts = Columns([(place, name) for place, name in enumerate(header) if numbers.get(name) is False])
        self._last = 1 + max(place for place, name in enumerate(header) if name in {"type", *numbers})

    def object(self, line: str, wanted: Wanted) -> str | None:
        """None for a row that is not wanted, of a listener, or cut short."""
        if line.count(",") < self._commas:
            return None
        # HAProxy quotes a cell that holds a comma or a quote.
        cells = next(csv.reader([line])) if '"' in line else line.split(",", self._last)
        kind, name, proxy = self._about(cells)
        if kind == SERVER:
            kind, about = "server", f'"backend_name":{_quoted(proxy)},'
        elif kind in (FRONTEND, BACKEND):
            kind, name, about = name.lower(), proxy, ""
        else:
            return None
        if not wanted(kind, name, proxy):
            return None
        members = self._numbers.as_they_are(cells) + self._texts.quoted(cells)
        return f'{{{about}"name":{_quoted(name)},"stats":{{{members[1:]}}},"type":"{kind}"}}'


class Columns:
    """Places and names of columns of one kind; their members are JSON, each behind a comma."""

    def __init__(self, columns: Sequence[tuple[int, str]]) -> None:
        self._names = [f',"{name}":' for _, name in columns]
        # Of a single place an itemgetter gives no tuple.
        self._values = itemgetter(*(place for place, _ in columns), 0)

    def as_they_are(self, cells: Sequence[str]) -> str:
        values = self._values(cells)[:-1]
        if not _all_numbers(values):
            values = [cell if _NUMBER(cell) else "" for cell in values]
        return "".join([name + cell for name, cell in zip(self._names, values, strict=True) if cell])

    def quoted(self, cells: Sequence[str]) -> str:
        return "".join([name + _quoted(cell) for name, cell in zip(self._names, self._values(cells)[:-1], strict=True) if cell])


def _all_numbers(cells: Sequence[str]) -> bool:
    """Whether each is an integer as JSON has them, or empty; asked of many at once."""
    joined = f",,{',,'.join(cells)},,"
    if joined.encode("utf-8", "replace").translate(None, b"0123456789,-"):
        return False
    negative = joined.count("-")
    return joined.count(",0") == joined.count(",0,") and (not negative or len(_NEGATIVE(joined)) == negative)
