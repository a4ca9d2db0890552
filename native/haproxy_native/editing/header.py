"""The header of a file: checksum, version and, unless a raw push brought the text, two banner lines.

They stand in a document's preamble from our first write on; every other line there stays byte for byte. The checksum is the MD5 of
all bytes behind the first line.
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
    """Puts a document under a version."""

    def __call__(self, document: Document, version: int, *, banner: bool) -> "Stamped": ...


class Stamped(NamedTuple):
    """A document with its header, and what the header says; of several files, the main one has it. `size`: of all bytes."""

    document: Document
    version: int
    checksum: str
    size: int

    @property
    def data(self) -> bytes:
        return self.document.data


def version_of(document: Document) -> int:
    """What the first version line before the first section says; 1 without one, or when it is not a number."""
    line = search(_VERSION, _above(document))
    digits = line[1].strip() if line else ""
    version = int(digits) if digits.isascii() and digits.isdigit() else 0
    return version if FIRST_VERSION <= version <= _LAST_VERSION else FIRST_VERSION


def has_banner(document: Document) -> bool:
    """Whether the first comment that is not checksum or version is our banner."""
    return _has_banner(_without_header(document.preamble))


def checksum_of(data: bytes) -> str | None:
    """The digits of the checksum line, true or not; None in a file without one."""
    line = _STATED.match(data)
    return line[1].decode() if line else None


def without_checksum(text: str) -> str:
    """A text without its checksum line."""
    return _CHECKSUM.sub("", text, count=1)


def with_header(document: Document, version: int, *, banner: bool) -> Stamped:
    """The document under that version; `banner` asks for the two lines where they are missing."""
    document = bare(document)
    preamble = document.preamble
    if banner and not _has_banner(preamble):
        preamble = "".join(BANNER) + preamble
    preamble = f"# _version={version}\n{preamble}"
    body = document.with_preamble(preamble)
    # Each byte is encoded once: to be summed, written and entered into the history.
    pieces = list(body.pieces())
    checksum, _ = _summed(pieces)
    if parts.is_joined(body):
        checksum, _ = _summed([parts.split(body.data)[parts.MAIN]])
    line = f"# _md5hash={checksum}\n"
    data = b"".join([line.encode(), *pieces])
    return Stamped(document.with_preamble(line + preamble, data), version, checksum, len(data))


def with_version(document: Document, version: int, *, banner: bool = False) -> Stamped:
    """The document with a version line alone, in the place of the one it has."""
    line = f"# _version={version}"
    if search(_VERSION, document.preamble):
        document = document.with_preamble(_DIGITS.sub(line, document.preamble, count=1))
    else:
        document = bare(document)
        document = document.with_preamble(f"{line}\n{document.preamble}")
    return Stamped(document, version, *_summed(document.pieces()))


def with_short_header(document: Document, version: int, *, banner: bool = False) -> Stamped:
    """The document with a version line alone, above everything else; checksum and banner lines that it has are removed."""
    document = bare(document)
    preamble = document.preamble
    for line in BANNER if _has_banner(preamble) else ():
        preamble = preamble.replace(line, "", 1)
    return with_version(document.with_preamble(preamble), version)


def _summed(pieces: Iterable[bytes]) -> tuple[str, int]:
    """The MD5 of bytes, and their number."""
    digest, size = md5(usedforsecurity=False), 0
    for piece in pieces:
        digest.update(piece)
        size += len(piece)
    return digest.hexdigest(), size


def without_versions(text: bytes) -> bytes:
    """A pushed text without any version line, wherever it stands."""
    return without(_VERSIONS, text)


def under_header_of(document: Document, other: Document) -> Document:
    """The document with another one's checksum and version lines, for comparing what people wrote."""
    lines = [line for line in (search(_CHECKSUM, other.preamble), search(_VERSION, other.preamble)) if line]
    document = bare(document)
    return document.with_preamble("".join(line[0] for line in lines) + document.preamble)


def under_head_of(document: Document, other: Document) -> Document:
    """The same with the other one's banner, or without one, for writing it."""
    preamble = bare(document).preamble
    for line in BANNER if _has_banner(preamble) else ():
        preamble = preamble.replace(line, "", 1)
    banner = "".join(BANNER) if has_banner(other) else ""
    return under_header_of(bare(document).with_preamble(banner + preamble), other)


def same_text(one: Document, other: Document) -> bool:
    """Whether two documents differ in nothing but the header."""
    one, other = bare(one), bare(other)
    return (
        one.preamble == other.preamble
        and len(one.sections) == len(other.sections)
        and all(a is b or (a.text == b.text and a.lead == b.lead) for a, b in zip(one.sections, other.sections, strict=True))
    )


def _above(document: Document) -> str:
    first = _first(document)
    return document.preamble + (first.lead if first else "")


def _first(document: Document) -> Section | None:
    """The main file's first section."""
    return next((section for section in document.sections if section.file is None and section.kind != BOUNDARY), None)


def _has_banner(preamble: str) -> bool:
    first = search(_COMMENT, preamble)
    return first is not None and first[0].rstrip() == BANNER[0].rstrip()


def bare(document: Document) -> Document:
    """Returns the document without checksum and version, also if a blank line makes them part of the first section's comment."""
    preamble = document.preamble
    first = _first(document)
    if first and not search(_VERSION, preamble) and search(_VERSION, first.lead):
        document = document.replace(first, first.with_lead(_without_header(first.lead)))
    return document.with_preamble(_without_header(preamble))


def _without_header(text: str) -> str:
    return without(_VERSION, without(_CHECKSUM, text), 1)
