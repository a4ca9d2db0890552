"""A crt-list as text: its entries, and edits that leave every other line, comment and blank as it is.

A line is `FILE [OPTIONS] FILTER ...`; blank lines, and those whose very first sign is `#`, say nothing
(HAProxy Configuration Manual, section 5.1, crt-list).
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os.path import join
from pathlib import Path
from typing import Any

from haproxy_native.editing.file_references import Reference, is_same_file, references
from haproxy_native.errors import BadValue, Missing
from haproxy_native.storage import key_material
from haproxy_native.text.document import Document

_LINE = re.compile(r"(?P<file>[^\s\[]+)\s*(?:\[(?P<options>[^\]]*)\])?\[?(?P<filters>.*)")
_UNFIT = re.compile(r"[\s\0\[\]]")


@dataclass(frozen=True)
class CrtListLine:
    """`line` counts from 1 and is no part of what an entry says; `options` is the text in brackets."""

    file: str
    options: str = ""
    filters: tuple[str, ...] = ()
    line: int = 0

    @property
    def identity(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return self.file, tuple(self.options.split()), self.filters

    def as_object(self) -> dict[str, Any]:
        """The API's ssl_crt_list_entry, without the line's number."""
        members = {"file": self.file, "ssl_bind_config": self.options, "sni_filter": list(self.filters)}
        return {name: value for name, value in members.items() if value}

    @property
    def text(self) -> str:
        """The line, without its end."""
        options = [f"[{self.options}]"] if self.options else []
        return " ".join([self.file, *options, *self.filters])


def entry_of(body: dict[str, Any]) -> CrtListLine:
    """Parses an object of the API. Raises BadValue naming the member that cannot stand in a line."""
    file, options, filters = body.get("file") or "", (body.get("ssl_bind_config") or "").strip(), body.get("sni_filter") or []
    _check("file", file, _UNFIT)
    _check("ssl_bind_config", options, re.compile(r"[\r\n\0\[\]]"))
    for filter_ in filters:
        _check("sni_filter", filter_, _UNFIT)
    if file.startswith("#"):
        raise BadValue("file in body cannot begin with #: HAProxy would take the line for a comment")
    return CrtListLine(file, options, tuple(filters))


def entries(text: str) -> list[CrtListLine]:
    """All entries with their lines, read as leniently as HAProxy does."""
    return [entry for number, line in enumerate(text.splitlines(), 1) if (entry := _entry(line, number))]


def with_entry(text: str, entry: CrtListLine) -> str:
    """One more line at the end; HAProxy wants an end at the last one."""
    return f"{ended(text)}{entry.text}\n"


def without_entry(text: str, file: str, line: int) -> tuple[str, CrtListLine]:
    """The text without one line, and the entry it was: the first of that file for line 0. Raises Missing."""
    entry = next((entry for entry in entries(text) if entry.file == file and line in (0, entry.line)), None)
    if entry is None:
        place = f" at line {line}" if line else ""
        raise Missing(f"certificate {file} is not in the list{place}")
    lines = text.splitlines(keepends=True)
    return "".join(lines[: entry.line - 1] + lines[entry.line :]), entry


def ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def is_list(data: bytes) -> bool:
    """Whether a file can be a list: text, and neither a certificate nor a secret."""
    if b"-----BEGIN " in data or key_material.is_secret(data):
        return False
    return not any(entry.file.startswith(("{", '"')) for entry in entries(data.decode("utf-8", "surrogateescape")))


@dataclass(frozen=True)
class Difference:
    """What turns one list into another without a new order: places that are removed, entries put behind the last one."""

    removed: Sequence[int]
    added: Sequence[CrtListLine]


def difference(old: Sequence[CrtListLine], new: Sequence[CrtListLine]) -> Difference | None:
    """Returns the difference; None if entries would have to be put before others, since HAProxy only appends."""
    wanted = [entry.identity for entry in new]
    matched, removed = 0, []
    for place, entry in enumerate(old):
        if matched < len(wanted) and entry.identity == wanted[matched]:
            matched += 1
        else:
            removed.append(place)
    remaining = {old[place].identity for place in removed}
    return None if any(entry.identity in remaining for entry in new[matched:]) else Difference(removed, new[matched:])


def obstacle(former: str, new: str) -> str:
    """Why one text cannot follow another without a reload; empty where it can."""
    return "" if difference(entries(former), entries(new)) else "entries of the list have to stand before others, and HAProxy only appends"


def _entry(line: str, number: int) -> CrtListLine | None:
    match = None if line.startswith("#") else _LINE.fullmatch(line.strip())
    if match is None:
        return None
    return CrtListLine(match["file"], (match["options"] or "").strip(), tuple(match["filters"].split()), number)


def _check(member: str, text: str, unfit: re.Pattern[str]) -> None:
    if match := unfit.search(text):
        raise BadValue(f"{member} in body cannot hold {match[0]!r}: {text!r}")


# Certificates stand in the same directory, and name no other file.
_NO_LIST = "-----BEGIN "
LARGEST_LIST = 1 << 20


def listed(document: Document, certificate: Path, directory: str) -> list[Reference]:
    """The lines of the lists beside a certificate that name it; `section` is the list's path. `directory`: where relative paths begin."""
    return [line for path, lines in _lists(certificate) if references(document, str(path), directory) for line in lines]


def _lists(certificate: Path) -> Iterator[tuple[Path, list[Reference]]]:
    for path in sorted(certificate.parent.iterdir()):
        text = _text(path)
        if certificate.name in text and _NO_LIST not in text:
            lines = [entry for entry in entries(text) if is_same_file(join(certificate.parent, entry.file), str(certificate))]
            yield path, [Reference(str(path), line.line, line.file, line.text) for line in lines]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "surrogateescape") if path.stat().st_size <= LARGEST_LIST else ""
    except OSError:
        return ""
