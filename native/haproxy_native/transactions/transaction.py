"""One transaction, and how it stands in its file."""

import asyncio
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from haproxy_native.changes.operations import Edit
from haproxy_native.changes.stored import as_operation, as_row
from haproxy_native.editing import patches
from haproxy_native.editing.header import version_of
from haproxy_native.text.document import Document
from haproxy_native.transactions.staged import Staged

IN_PROGRESS, FAILED, OUTDATED, SUCCESS = "in_progress", "failed", "outdated", "success"
_MARK = b'{"base": '


@dataclass
class Transaction:
    """`version` is the version it started from; `banner` whether its text is to have the banner lines. `author` is the identity of who
    started it, empty where that is not known.

    `started` and `used`, the last edit or read, are Unix times; 0 where they are not known. Reads of a former process do not count.
    While it is being committed it is `closed`: a change would come too late and be lost. `staged`: its stored files, once they are
    asked for. `operations`: what was done in it, in order, and `document` what they have made; of a former process both are there once it
    is read.
    """

    id: str
    status: str
    version: int = 0
    base: str | None = None
    banner: bool = True
    author: str = ""
    document: Document | None = field(default=None, repr=False)
    started: float = 0.0
    used: float = 0.0
    staged: Staged | None = field(default=None, repr=False)
    operations: list[Edit] = field(default_factory=list, repr=False)
    closed: bool = False
    lock: asyncio.Lock = field(default_factory=asyncio.Lock, repr=False)

    @property
    def is_idle(self) -> bool:
        """Whether it is in progress, and neither edited nor committed at this moment."""
        return self.status == IN_PROGRESS and not (self.closed or self.lock.locked())

    def as_dict(self) -> dict[str, Any]:
        version = {"_version": self.version} if self.version and self.status in (IN_PROGRESS, SUCCESS) else {}
        return {**version, "id": self.id, "status": self.status}


def line(value: object) -> bytes:
    return json.dumps(value).encode() + b"\n"


def found(id_: str, status: str, path: Path) -> Transaction:
    """What a file of an earlier process is about; one that is not ours is a complete text."""
    with path.open("rb") as file:
        first = file.readline()
        if first.startswith(_MARK):
            with suppress(ValueError, KeyError):
                head = json.loads(first)
                about = int(head["version"]), str(head["base"]), bool(head["banner"]), str(head.get("author", ""))
                return Transaction(id_, status, *about, started=float(head.get("started", 0)), used=path.stat().st_mtime)
    if status != IN_PROGRESS:
        return Transaction(id_, status, used=path.stat().st_mtime)
    return Transaction(id_, status, version_of(Document.parse(path.read_bytes())), used=path.stat().st_mtime)


def change_line(patch: patches.Patch, operations: Sequence[Edit]) -> bytes:
    """Return what stands in the file of a transaction for one change: what it does to the text, and the operations that do it."""
    return line((*patch, [as_row(operation) for operation in operations]))


def changes_of(data: bytes, path: Path) -> tuple[list[patches.Patch], list[Edit]]:
    """Return the changes up to a line that a crash cut off; the file loses that piece, so that the next change can follow."""
    changes: list[patches.Patch] = []
    operations: list[Edit] = []
    head, *lines, _ = data.split(b"\n")
    size = len(head) + 1
    for line in lines:
        try:
            start, gone, put, rows = json.loads(line)
            patch = int(start), int(gone), str(put)
            made = [as_operation(row, patch) for row in rows]
        except (ValueError, TypeError, KeyError, AttributeError):
            break
        size += len(line) + 1
        changes.append(patch)
        operations += made
    if size < len(data):
        with suppress(OSError):
            os.truncate(path, size)
    return changes, operations
