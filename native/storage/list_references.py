"""Which crt-lists of a configuration name a certificate: HAProxy reads them with it, so what they name must stay."""

import posixpath
from collections.abc import Iterator
from pathlib import Path

from native.config.file_references import Reference, bases
from native.storage import crt_list
from native.text.document import Document
from native.text.words import unquoted


def listed(document: Document, certificate: Path, directory: Path) -> list[Reference]:
    """The lines of lists that name a certificate; `section` is `crt-list PATH`. `directory`: where relative paths begin."""
    starts = [str(directory), *bases(document)]
    return [reference for name in _lists(document) for reference in _lines(_joined(starts, name), str(certificate), starts)]


def _lists(document: Document) -> list[str]:
    found = (
        words[place + 1]
        for section in document.sections
        if "crt-list" in section.text
        for words in (line.words for line in section.lines)
        for place, word in enumerate(words[:-1])
        if word == "crt-list"
    )
    return list(dict.fromkeys(map(unquoted, found)))


def _lines(paths: list[str], certificate: str, starts: list[str]) -> Iterator[Reference]:
    for path in paths:
        try:
            text = Path(path).read_text("utf-8", "surrogateescape")
        except OSError:
            continue
        for entry in crt_list.entries(text):
            if certificate in _joined(starts, entry.file):
                yield Reference(f"crt-list {path}", entry.line, entry.file, entry.text)


def _joined(starts: list[str], name: str) -> list[str]:
    return list(dict.fromkeys(posixpath.normpath(posixpath.join(start, name)) for start in starts))
