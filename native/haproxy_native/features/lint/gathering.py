"""Looks at the files that a configuration names: which are there, their modes, when certificates end. Waits for the disk."""

import os
import posixpath
import stat
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from haproxy_native.errors import NativeError
from haproxy_native.features.lint.facts import Facts, File
from haproxy_native.features.lint.named_files import CERTIFICATE, LIST, MAP, OTHER, named_files
from haproxy_native.features.lint.view import View
from haproxy_native.storage import split_file
from haproxy_native.storage.certificate import holds_key, read
from haproxy_native.text.document import Document

# Bytes of a file that is read, and files of a directory that are looked at.
LARGEST, MOST = 1 << 23, 10_000


def gathered(document: Document, directory: str, quotable: Callable[[str], bool] = lambda path: True) -> Facts:
    """Return what is known of the files that a document names. `directory`: that of the main file.

    Findings quote values of maps, so only maps whose path is `quotable` are read.
    """
    view = View(document, Facts(directory))
    files: dict[str, File] = {}
    for named in named_files(view):
        for path in named.paths:
            if path not in files or (named.kind == MAP and files[path].text is None):
                files[path] = _file(path, OTHER if named.kind == MAP and not quotable(path) else named.kind)
            for file in files[path].files:
                if file not in files:
                    files[file] = _file(file, CERTIFICATE)
    splits = (split_file.read(file.text) for file in files.values() if file.text is not None)
    used = frozenset(name for split in splits if split for name in split.weights)
    return Facts(directory, datetime.now(UTC), files, used_backends=used)


def _file(path: str, kind: str) -> File:
    """What cannot be looked at counts as there: nothing is known of it."""
    try:
        status = os.stat(path)
        if stat.S_ISDIR(status.st_mode):
            files = tuple(sorted(entry.path for entry in os.scandir(path) if entry.is_file())[:MOST]) if kind == CERTIFICATE else ()
            return File(True, files=files)
        if kind not in (CERTIFICATE, LIST, MAP) or not stat.S_ISREG(status.st_mode) or status.st_size > LARGEST:
            return File(True, status.st_mode)
        return _read(path, kind, status.st_mode)
    except FileNotFoundError:
        return File(False)
    except (OSError, ValueError):
        return File(True)


def _read(path: str, kind: str, mode: int) -> File:
    data = Path(path).read_bytes()
    if kind == MAP:
        return File(True, mode, text=data.decode("utf-8", "surrogateescape"))
    if kind == LIST:
        return File(True, mode, files=tuple(_listed(data.decode("utf-8", "surrogateescape"), posixpath.dirname(path))))
    return File(True, mode, holds_key(data), _end(data))


def _listed(text: str, directory: str) -> Iterator[str]:
    for line in text.splitlines():
        name = line.split("[")[0].split()[:1]
        if name and not name[0].startswith(("#", "@")):
            yield posixpath.normpath(posixpath.join(directory, name[0]))


def _end(data: bytes) -> datetime | None:
    try:
        return read(data).served.not_valid_after_utc
    except (NativeError, ValueError):
        return None
