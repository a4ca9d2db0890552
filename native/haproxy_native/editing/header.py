"""Read and write the header of a configuration file: checksum line, version line and banner, as the Data Plane API writes them.

    # _md5hash=2c3b...
    # _version=4
    # Dataplaneapi managed File
    # changing file directly can cause a conflict if dataplaneapi is running

The checksum is the MD5 of all bytes below the checksum line. Files that were written by a raw push have no banner. The header is part of
the preamble of a document, and edits of the header keep all other lines of the preamble. If a document has several files, the header is in
the main file.
"""

import re
from collections.abc import Iterable
from hashlib import md5
from typing import NamedTuple, Protocol

from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.text.pieces import search, without
from haproxy_native.text.section import BOUNDARY, Section

BANNER = (
    "# Dataplaneapi managed File\n",
    "# changing file directly can cause a conflict if dataplaneapi is running\n",
)
FIRST_VERSION = 1
_LAST_VERSION = 2**63 - 1
_CHECKSUM = re.compile(r"^# _md5hash=.*(?:\n|\Z)", re.MULTILINE)
_VERSION = re.compile(r"^# _version=(.*)(?:\n|\Z)", re.MULTILINE)
_DIGITS = re.compile(r"^# _version=[^\r\n]*", re.MULTILINE)
_VERSIONS = re.compile(rb"^# _version=.*(?:\n|\Z)", re.MULTILINE)
_STATED = re.compile(rb"# _md5hash=([0-9a-f]{32})\r?(?:\n|\Z)")
_COMMENT = re.compile(r"^#.*(?:\n|\Z)", re.MULTILINE)


class Stamp(Protocol):
    """A function that writes a version into a document: `with_header`, `with_version` or `with_short_header`."""

    def __call__(self, document: Document, version: int, *, banner: bool) -> "Stamped": ...


class Stamped(NamedTuple):
    """A document whose header has just been written."""

    document: Document
    version: int
    # The MD5 in the header; if there is no checksum line, the MD5 of all bytes.
    checksum: str
    # The number of bytes of all files.
    size: int

    @property
    def data(self) -> bytes:
        return self.document.data


def version_of(document: Document) -> int:
    """Return the version of a document, from the first version line above its first section.

    The version is 1 if there is no such line, or if the line has no valid number.
    """
    first = _first_section(document)
    line = search(_VERSION, document.preamble + (first.lead if first else ""))
    digits = line[1].strip() if line else ""
    version = int(digits) if digits.isascii() and digits.isdigit() else 0
    return version if FIRST_VERSION <= version <= _LAST_VERSION else FIRST_VERSION


def has_banner(document: Document) -> bool:
    """Return whether the first comment of a document, ignoring checksum and version lines, is the banner."""
    return _has_banner(_without_header(document.preamble))


def checksum_of(data: bytes) -> str | None:
    """Return the checksum in the header of a file, even if it is wrong. Return None if there is no checksum line."""
    line = _STATED.match(data)
    return line[1].decode() if line else None


def without_checksum(text: str) -> str:
    """Return a text without its checksum line."""
    return _CHECKSUM.sub("", text, count=1)


def with_header(document: Document, version: int, *, banner: bool) -> Stamped:
    """Return the document with a checksum line and the version line. `banner`: also add the banner if it is missing."""
    document = bare(document)
    preamble = document.preamble
    if banner and not _has_banner(preamble):
        preamble = "".join(BANNER) + preamble
    preamble = f"# _version={version}\n{preamble}"
    body = document.with_preamble(preamble)
    # Encode each byte once, for the checksum, the file and the history.
    pieces = list(body.pieces())
    checksum, _ = _checksum_and_size(pieces)
    if parts.is_joined(body):
        checksum, _ = _checksum_and_size([parts.split(body.data)[parts.MAIN]])
    line = f"# _md5hash={checksum}\n"
    data = b"".join([line.encode(), *pieces])
    return Stamped(document.with_preamble(line + preamble, data), version, checksum, len(data))


def with_version(document: Document, version: int, *, banner: bool = False) -> Stamped:
    """Return the document with `version` in its version line. If there is no version line, add it and remove the checksum line.

    `banner` is ignored: an existing banner is kept, and no banner is added.
    """
    line = f"# _version={version}"
    if search(_VERSION, document.preamble):
        document = document.with_preamble(_DIGITS.sub(line, document.preamble, count=1))
    else:
        document = bare(document)
        document = document.with_preamble(f"{line}\n{document.preamble}")
    return Stamped(document, version, *_checksum_and_size(document.pieces()))


def with_short_header(document: Document, version: int, *, banner: bool = False) -> Stamped:
    """Return the document without checksum line and banner. Its first line is the version line. The argument `banner` is ignored."""
    return with_version(without_banner(bare(document)), version)


def _checksum_and_size(pieces: Iterable[bytes]) -> tuple[str, int]:
    """Return (MD5 of all bytes in `pieces`, number of bytes)."""
    digest, size = md5(usedforsecurity=False), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def without_versions(text: bytes) -> bytes:
    """Return a text that a client has pushed without its version lines, wherever in the text they are."""
    return without(_VERSIONS, text)


def with_header_of(document: Document, other: Document) -> Document:
    """Return the document with the checksum and version lines of `other`, so that these lines do not differ when both are compared."""
    lines = [line for line in (search(_CHECKSUM, other.preamble), search(_VERSION, other.preamble)) if line]
    document = bare(document)
    return document.with_preamble("".join(line[0] for line in lines) + document.preamble)


def with_header_and_banner_of(document: Document, other: Document) -> Document:
    """Return the document with the checksum and version lines of `other`. If `other` has the banner, the result also has it."""
    document = without_banner(bare(document))
    banner = "".join(BANNER) if has_banner(other) else ""
    return with_header_of(document.with_preamble(banner + document.preamble), other)


def same_text(one: Document, other: Document) -> bool:
    """Return whether two documents are equal apart from the checksum and version lines."""
    one, other = bare(one), bare(other)
    return (
        one.preamble == other.preamble
        and len(one.sections) == len(other.sections)
        and all(a is b or (a.text == b.text and a.lead == b.lead) for a, b in zip(one.sections, other.sections, strict=True))
    )


def _first_section(document: Document) -> Section | None:
    """Return the main file's first section."""
    return next((section for section in document.sections if section.file is None and section.kind != BOUNDARY), None)


def _has_banner(preamble: str) -> bool:
    first = search(_COMMENT, preamble)
    return first is not None and first[0].rstrip() == BANNER[0].rstrip()


def without_banner(document: Document) -> Document:
    preamble = document.preamble
    for line in BANNER if _has_banner(preamble) else ():
        preamble = preamble.replace(line, "", 1)
    return document.with_preamble(preamble)


def bare(document: Document) -> Document:
    """Return the document without checksum and version lines, including those in the comment above the first section."""
    preamble = document.preamble
    first = _first_section(document)
    if first and not search(_VERSION, preamble) and search(_VERSION, first.lead):
        document = document.replace(first, first.with_lead(_without_header(first.lead)))
    return document.with_preamble(_without_header(preamble))


def _without_header(text: str) -> str:
    return without(_VERSION, without(_CHECKSUM, text), 1)
