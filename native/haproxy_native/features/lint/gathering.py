"""Reads the files that a configuration names, as far as lint looks at them. Waits for the disk.

The command `dataplaneapi lint` uses it without an engine.
"""

import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from haproxy_native.errors import NativeError
from haproxy_native.features.lint.files import CERTIFICATE, LIST, MAP, OTHER, named_files
from haproxy_native.features.lint.view import Facts, FileFacts, View
from haproxy_native.storage import list_files
from haproxy_native.storage.certificate import holds_key, parse_certificates
from haproxy_native.text.document import Document

# HAProxy loads `site.pem.rsa` and its like if a line names `site.pem` (HAProxy Configuration Manual, section 5.1, crt).
BUNDLED = (".rsa", ".ecdsa", ".dsa")
# The largest file that is read, in bytes, and the most files of a directory that are.
LARGEST, MOST = 1 << 23, 10_000


def gather_facts(document: Document, directory: str, quotable: Callable[[str], bool] = lambda path: True) -> Facts:
    """Return what is known of the files that a document names. `directory` is that of the main file.

    Findings quote values of maps, so only maps whose path is `quotable` are read.
    """
    view = View(document, Facts(directory))
    files: dict[str, FileFacts] = {}
    for named in named_files(view):
        for path in named.paths:
            if path not in files or (named.kind == MAP and files[path].text is None):
                files[path] = _file(path, OTHER if named.kind == MAP and not quotable(path) else named.kind)
            for file in files[path].files:
                if file not in files:
                    files[file] = _file(file, CERTIFICATE)
    splits = (list_files.parse_split(file.text) for file in files.values() if file.text is not None)
    used = frozenset(name for split in splits if split for name in split.weights)
    return Facts(directory, datetime.now(UTC), files, used_backends=used)


def _file(path: str, kind: str) -> FileFacts:
    """Return what is known of a file. One that cannot be read counts as existing."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            files = tuple(sorted(entry.path for entry in os.scandir(path) if entry.is_file())[:MOST]) if kind == CERTIFICATE else ()
            return FileFacts(True, files=files)
        if kind not in (CERTIFICATE, LIST, MAP) or not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return FileFacts(True, status.st_mode)
        return _read(path, kind, status.st_mode)
    except FileNotFoundError:
        return FileFacts(False)
    except (OSError, ValueError):
        return FileFacts(True)


def _read(path: str, kind: str, mode: int) -> FileFacts:
    data = Path(path).read_bytes()
    if kind == MAP:
        return FileFacts(True, mode, text=data.decode("utf-8", "surrogateescape"))
    if kind == LIST:
        return FileFacts(True, mode, files=tuple(_listed(data.decode("utf-8", "surrogateescape"), posixpath.dirname(path))))
    return FileFacts(True, mode, holds_key(data), _end(data))


def _listed(text: str, directory: str) -> Iterator[str]:
    for line in text.split("\n"):
        name = line.split("[")[0].split()[:1]
        if name and not name[0].startswith(("#", "@")):
            yield posixpath.normpath(posixpath.join(directory, name[0]))


def _end(data: bytes) -> datetime | None:
    try:
        return parse_certificates(data).served.not_valid_after_utc
    except (NativeError, ValueError):
        return None
