"""Parse the text of crt-lists, and edit entries without changing other lines (HAProxy Configuration Manual, section 5.1, crt-list).

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
from haproxy_native.storage import secret_files
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import split_lines

# HAProxy separates words by the ASCII blanks of C's isspace().
_BLANKS = " \t\n\v\f\r"
_WORD = re.compile(rf"[^{_BLANKS}]+")
_LINE = re.compile(rf"(?P<file>[^{_BLANKS}\[]+)[{_BLANKS}]*(?:\[(?P<options>[^\]]*)\])?\[?(?P<filters>.*)", re.DOTALL)
_PEM = "-----BEGIN "
_UNFIT = re.compile(r"[\s\0\[\]]")


@dataclass(frozen=True)
class CrtListLine:
    """An entry: a certificate, with bind options, and the server names for which HAProxy serves it."""

    # The certificate's path.
    file: str
    # The bind options in brackets.
    options: str = ""
    # SNI filters.
    filters: tuple[str, ...] = ()
    # The number of its line, from 1 on; 0 for an entry that was not parsed.
    line: int = 0

    @property
    def identity(self) -> tuple[str, tuple[str, ...], tuple[str, ...]]:
        return self.file, tuple(self.options.split()), self.filters

    def as_object(self) -> dict[str, Any]:
        """Return the API's ssl_crt_list_entry, without its line number."""
        members = {"file": self.file, "ssl_bind_config": self.options, "sni_filter": list(self.filters)}
        return {name: value for name, value in members.items() if value}

    @property
    def text(self) -> str:
        """The line, without its end."""
        options = [f"[{self.options}]"] if self.options else []
        return " ".join([self.file, *options, *self.filters])


def entry_of(body: dict[str, Any]) -> CrtListLine:
    """Convert an object of the API to an entry. Raises BadValue, which names the member, if a value does not fit in a line."""
    file, options, filters = body.get("file") or "", (body.get("ssl_bind_config") or "").strip(), body.get("sni_filter") or []
    _refuse_unfit("file", file, _UNFIT)
    _refuse_unfit("ssl_bind_config", options, re.compile(r"[\r\n\0\[\]]"))
    for filter_ in filters:
        _refuse_unfit("sni_filter", filter_, _UNFIT)
    if file.startswith("#"):
        raise BadValue("file in body cannot begin with #: HAProxy would read the line as a comment", place=Place(member="file"))
    return CrtListLine(file, options, tuple(filters))


def entries(text: str) -> list[CrtListLine]:
    """Parse all entries, as leniently as HAProxy does."""
    found = []
    for number, line in enumerate(split_lines(text), 1):
        if not line.startswith("#") and (match := _LINE.fullmatch(line.strip(_BLANKS))):
            options, filters = (match["options"] or "").strip(), tuple(_WORD.findall(match["filters"]))
            found.append(CrtListLine(match["file"], options, filters, number))
    return found


def with_entry(text: str, entry: CrtListLine) -> str:
    """Return the text with an entry appended. The text ends in a line feed, which HAProxy requires."""
    end = "" if not text or text.endswith("\n") else "\n"
    return f"{text}{end}{entry.text}\n"


def without_entry(text: str, file: str, line: int) -> tuple[str, CrtListLine]:
    """Return (the text without an entry, the entry). `line`: the entry's line; 0 for the first entry of `file`. Raises Missing."""
    entry = next((entry for entry in entries(text) if entry.file == file and line in (0, entry.line)), None)
    if entry is None:
        place = f" at line {line}" if line else ""
        raise Missing(f"certificate {file} is not in the list{place}")
    lines = split_lines(text)
    return "".join(lines[: entry.line - 1] + lines[entry.line :]), entry


def is_list(data: bytes) -> bool:
    """Return whether a file may be a crt-list: it contains no PEM block and no secret, and is not JSON."""
    if _PEM.encode() in data or secret_files.is_secret(data):
        return False
    return not any(entry.file.startswith(("{", '"')) for entry in entries(data.decode("utf-8", "surrogateescape")))


def difference(old: Sequence[CrtListLine], new: Sequence[CrtListLine]) -> tuple[Sequence[int], Sequence[CrtListLine]] | None:
    """Return (indices of old entries to remove, entries to append) that turn the old entries into the new ones.

    Return None if a new entry precedes an old one, because HAProxy can only append entries.
    """
    matched, removed = 0, []
    for index, entry in enumerate(old):
        if matched < len(new) and entry.identity == new[matched].identity:
            matched += 1
        else:
            removed.append(index)
    remaining = {old[index].identity for index in removed}
    return None if any(entry.identity in remaining for entry in new[matched:]) else (removed, new[matched:])


def obstacle(former: str, new: str) -> str:
    """Return why replacing the former text by the new one needs a reload; empty if it needs none."""
    return "" if difference(entries(former), entries(new)) else "new entries precede existing ones, and HAProxy can only append entries"


def _refuse_unfit(member: str, text: str, unfit: re.Pattern[str]) -> None:
    if match := unfit.search(text):
        raise BadValue(f"{member} in body cannot contain {match[0]!r}: {text!r}", place=Place(member=member))


LARGEST_LIST = 1 << 20


def lines_naming(document: Document, certificate: Path, directory: str) -> list[FileReference]:
    """Return the entries that name a certificate, in the crt-lists in its directory that the document loads.

    The `section` of a returned reference is the path of the list. Relative paths in the document start at `directory`. Blocks.
    """
    found: list[FileReference] = []
    for path in sorted(certificate.parent.iterdir()):
        text = ""
        with suppress(OSError):
            if path.stat().st_size <= LARGEST_LIST:
                text = path.read_text("utf-8", "surrogateescape")
        if certificate.name in text and _PEM not in text and references(document, str(path), directory):
            lines = [entry for entry in entries(text) if is_same_file(join(certificate.parent, entry.file), str(certificate))]
            found += [FileReference(str(path), line.line, line.file, line.text) for line in lines]
    return found
