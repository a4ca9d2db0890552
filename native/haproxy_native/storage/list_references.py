"""Lists that name a certificate and that the configuration names: HAProxy reads them with it, so their certificates must stay."""

from collections.abc import Iterator
from os.path import join
from pathlib import Path

from haproxy_native.editing.file_references import Reference, references, same
from haproxy_native.storage import crt_list
from haproxy_native.text.document import Document

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
            lines = [entry for entry in crt_list.entries(text) if same(join(certificate.parent, entry.file), str(certificate))]
            yield path, [Reference(str(path), line.line, line.file, line.text) for line in lines]


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", "surrogateescape") if path.stat().st_size <= LARGEST_LIST else ""
    except OSError:
        return ""
