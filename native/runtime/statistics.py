"""`show stat` as JSON: CSV in, the text of a JSON array out (HAProxy Management Guide, section 9.1).

A large HAProxy has a hundred cells for each of thousands of servers, so a row becomes JSON by joining, without values in between.
"""

import csv
import json
import re
from collections.abc import Callable, Iterator, Mapping, Sequence

FRONTEND, BACKEND, SERVER = "0", "1", "2"
_NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)").fullmatch
_quoted = json.JSONEncoder(ensure_ascii=False).encode


def rows(text: str, numbers: Mapping[str, bool], wanted: Callable[[str, str, str], bool]) -> list[str]:
    """One JSON object for each row that is `wanted` by type (`frontend`, `backend`, `server`), name and proxy.

    `numbers`: whether each known column is an integer; unknown columns, empty cells and numbers that are none are left out.
    """
    lines = text.removeprefix("# ").split("\n")
    header = lines[0].split(",")
    reader = Reader(header, numbers)
    return [said for line in lines[1:] if line and (said := reader.object(_cells(line), wanted)) is not None]


def _cells(line: str) -> list[str]:
    """HAProxy quotes a cell that holds a comma or a quote."""
    return next(csv.reader([line])) if '"' in line else line.split(",")


class Reader:
    """The columns of one answer."""

    def __init__(self, header: Sequence[str], numbers: Mapping[str, bool]) -> None:
        places = {name: place for place, name in enumerate(header)}
        self._proxy, self._service, self._type = places["pxname"], places["svname"], places["type"]
        self._size = len(header) - (header[-1] == "")
        known = [(place, name, numbers[name]) for place, name in enumerate(header) if name in numbers]
        # Each known column in the order of its name, as the API has them.
        self._columns = [(place, f'"{name}":', is_number) for place, name, is_number in sorted(known, key=lambda each: each[1])]

    def object(self, cells: list[str], wanted: Callable[[str, str, str], bool]) -> str | None:
        """None for a row that is not wanted, of a listener, or cut short."""
        if len(cells) < self._size:
            return None
        kind, name, proxy = cells[self._type], cells[self._service], cells[self._proxy]
        if kind == SERVER:
            about = f'"backend_name":{_quoted(proxy)},"name":{_quoted(name)},"stats":'
            kind = "server"
        elif kind in (FRONTEND, BACKEND):
            kind, name = name.lower(), proxy
            about = f'"name":{_quoted(name)},"stats":'
        else:
            return None
        if not wanted(kind, name, proxy):
            return None
        return f'{{{about}{{{",".join(self._members(cells))}}},"type":"{kind}"}}'

    def _members(self, cells: list[str]) -> Iterator[str]:
        for place, name, is_number in self._columns:
            if cell := cells[place]:
                if not is_number:
                    yield name + _quoted(cell)
                elif _NUMBER(cell):
                    yield name + cell


def answer(address: str, objects: Sequence[str]) -> bytes:
    """`stats` is absent where there is none."""
    stats = f',"stats":[{",".join(objects)}]' if objects else ""
    return f'{{"runtimeAPI":{_quoted(address)}{stats}}}\n'.encode("utf-8", "backslashreplace")
