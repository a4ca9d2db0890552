"""The plan of a commit over several files: complete on disk before the first file changes, deleted when all are done.

A crash in between leaves some files new and some old; `rest` tells which ones are still to be written.
"""

import json
from contextlib import suppress
from hashlib import md5
from pathlib import Path
from typing import Any, NamedTuple

from haproxy_native.disk.atomic import remove_drafts, sync_directory, write_atomically


class ManifestEntry(NamedTuple):
    """A file, by its path as configured, with the content that goes and the one that comes."""

    path: str
    old: bytes
    new: bytes


class Manifest:
    """Kept at `path`; `system` is the `os` module, or in tests one that fails."""

    def __init__(self, path: Path, system: Any) -> None:
        self.path, self._system = path, system

    def begin(self, entries: list[ManifestEntry]) -> None:
        """Raises OSError."""
        data = b"".join(entry.old + entry.new for entry in entries)
        sizes = [[entry.path, len(entry.old), len(entry.new)] for entry in entries]
        head = {"files": sizes, "md5": md5(data, usedforsecurity=False).hexdigest()}
        write_atomically(self.path, json.dumps(head).encode() + b"\n" + data, system=self._system)

    def end(self) -> None:
        """Raises OSError where it stays: it may not outlive a later commit."""
        if self.path.exists():
            self._system.unlink(self.path)
            sync_directory(self._system, self.path.parent)

    def rest(self) -> list[ManifestEntry]:
        """What a crash left to do: the files that are still old where others are already new. Later edits by others are kept."""
        remove_drafts(self.path.parent, self.path.name)
        entries = self._read()
        contents = {entry: _content(entry.path) for entry in entries}
        if not any(contents[entry] == entry.new for entry in entries):
            return []
        return [entry for entry in entries if contents[entry] == entry.old]

    def _read(self) -> list[ManifestEntry]:
        with suppress(FileNotFoundError, NotADirectoryError, ValueError, KeyError, TypeError):
            head, _, data = self.path.read_bytes().partition(b"\n")
            described = json.loads(head)
            if md5(data, usedforsecurity=False).hexdigest() == described["md5"]:
                return _entries(described["files"], data)
        return []


def _entries(sizes: list[tuple[str, int, int]], data: bytes) -> list[ManifestEntry]:
    entries, start = [], 0
    for path, old, new in sizes:
        entries.append(ManifestEntry(path, data[start : start + old], data[start + old : start + old + new]))
        start += old + new
    return entries


def _content(path: str) -> bytes | None:
    try:
        return Path(path).read_bytes()
    except OSError:
        return None
