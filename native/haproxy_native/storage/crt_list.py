"""The text of crt-lists: parse entries, and edit them without touching other lines (HAProxy Configuration Manual, section 5.1, crt-list).

A line is `FILE [OPTIONS] FILTER ...`. HAProxy ignores blank lines, and lines whose very first character is `#`.
"""

import re
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from os.path import join
from pathlib import Path
from typing import Any

from haproxy_native.editing.file_references import FileReference, is_same_file, references
from haproxy_native.errors import BadValue, Missing, Place
from haproxy_native.storage import key_material
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import split_lines

# HAProxy separates words by the blanks of C, which are ASCII.
_BLANKS = " \t\n\v\f\r"
_WORD = re.compile(rf"[^{_BLANKS}]+")
_LINE = re.compile(rf"(?P<file>[^{_BLANKS}\[]+)[{_BLANKS}]*(?:\[(?P<options>[^\]]*)\])?\[?(?P<filters>.*)", re.DOTALL)
_UNFIT = re.compile(r"[\s\0\[\]]")


@dataclass(frozen=True)
class CrtListLine:
    """An entry."""

    file: str
    # The text in brackets.
    options: str = ""
    filters: tuple[str, ...] = ()
    # Where it was parsed, from 1 on.
    line: int = 0

    @property
    def identity(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return self.file, tuple(self.options.split()), self.filters

    def as_object(self) -> dict[str, Any]:
        """Return it as the API's ssl_crt_list_entry, without the line's number."""
        members = {"file": self.file, "ssl_bind_config": self.options, "sni_filter": list(self.filters)}
        return {name: value for name, value in members.items() if value}

    @property
    def text(self) -> str:
        """The line, without its end."""
        options = [f"[{self.options}]"] if self.options else []
        return " ".join([self.file, *options, *self.filters])


def entry_of(body: dict[str, Any]) -> CrtListLine:
    """Convert an object of the API. Raises BadValue naming the member that does not fit in a line."""
    file, options, filters = body.get("file") or "", (body.get("ssl_bind_config") or "").strip(), body.get("sni_filter") or []
    _check("file", file, _UNFIT)
    _check("ssl_bind_config", options, re.compile(r"[\r\n\0\[\]]"))
    for filter_ in filters:
        _check("sni_filter", filter_, _UNFIT)
    if file.startswith("#"):
        raise BadValue("file in body cannot begin with #: HAProxy would take the line for a comment", place=Place(member="file"))
    return CrtListLine(file, options, tuple(filters))


def entries(text: str) -> list[CrtListLine]:
    """Parse all entries, as leniently as HAProxy does."""
    return [entry for number, line in enumerate(split_lines(text), 1) if (entry := _entry(line, number))]


def with_entry(text: str, entry: CrtListLine) -> str:
    """Append a line. HAProxy requires a line feed at the end of the last one."""
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{end}{entry.text}\n"


def without_entry(text: str, file: str, line: int) -> tuple[str, CrtListLine]:
    """Remove the entry of a file at a line, the first one for line 0, and return it as well. Raises Missing."""
    entry = next((entry for entry in entries(text) if entry.file == file and line in (0, entry.line)), None)
    if entry is None:
        place = f" at line {line}" if line else ""
        raise Missing(f"certificate {file} is not in the list{place}")
    lines = split_lines(text)
    return "".join(lines[: entry.line - 1] + lines[entry.line :]), entry


def is_list(data: bytes) -> bool:
    """Return whether a file can be a list: it is neither a certificate nor a secret, nor JSON."""
    if b"-----BEGIN " in data or key_material.is_secret(data):
        return False
    return not any(entry.file.startswith(("{", '"')) for entry in entries(data.decode("utf-8", "surrogateescape")))


def difference(old: Sequence[CrtListLine], new: Sequence[CrtListLine]) -> tuple[Sequence[int], Sequence[CrtListLine]] | None:
    """Return the positions to remove from a list, and the entries to append to it.

    Returns None if an entry would have to be put before others, since HAProxy only appends.
    """
    wanted = [entry.identity for entry in new]
    matched, removed = 0, []
    for place, entry in enumerate(old):
        if matched < len(wanted) and entry.identity == wanted[matched]:
            matched += 1
        else:
            removed.append(place)
    remaining = {old[place].identity for place in removed}
    return None if any(entry.identity in remaining for entry in new[matched:]) else (removed, new[matched:])


def obstacle(former: str, new: str) -> str:
    """Return why one text cannot replace another without a reload; empty if it can."""
    return "" if difference(entries(former), entries(new)) else "entries of the list have to stand before others, and HAProxy only appends"


def _entry(line: str, number: int) -> CrtListLine | None:
    match = None if line.startswith("#") else _LINE.fullmatch(line.strip(_BLANKS))
    if match is None:
        return None
    return CrtListLine(match["file"], (match["options"] or "").strip(), tuple(_WORD.findall(match["filters"])), number)


def _check(member: str, text: str, unfit: re.Pattern[str]) -> None:
    if match := unfit.search(text):
        raise BadValue(f"{member} in body cannot hold {match[0]!r}: {text!r}", place=Place(member=member))


# Certificates are in the same directory, and name no other file.
_NO_LIST = "-----BEGIN "
LARGEST_LIST = 1 << 20


def listed(document: Document, certificate: Path, directory: str) -> list[FileReference]:
    """Return the lines that name a certificate in lists of its directory which the document loads; their `section` is the list's path.

    Relative paths of the document begin at `directory`.
    """
    found: list[FileReference] = []
    for path in sorted(certificate.parent.iterdir()):
        text = ""
        with suppress(OSError):
            if path.stat().st_size <= LARGEST_LIST:
                text = path.read_text("utf-8", "surrogateescape")
        if certificate.name in text and _NO_LIST not in text and references(document, str(path), directory):
            lines = [entry for entry in entries(text) if is_same_file(join(certificate.parent, entry.file), str(certificate))]
            found += [FileReference(str(path), line.line, line.file, line.text) for line in lines]
    return found
