"""One transaction, and how it stands in its file."""

import asyncio
import json
import os
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from haproxy_native.editing import patches
from haproxy_native.editing.header import version_of
from haproxy_native.planning.observed import Claim, Claimed
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
    asked for. `claimed`: the servers that its commit brings about in the process as well; of a former process once its document
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
    claimed: Claimed = frozenset()
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


def patches_of(data: bytes, path: Path) -> tuple[list[patches.Patch], Claimed]:
    """The changes and what they claim, up to a line that a crash cut off; the file loses that piece, so that the next change can follow."""
    changes: list[patches.Patch] = []
    claimed: set[Claim] = set()
    head, *lines, _ = data.split(b"\n")
    size = len(head) + 1
    for line in lines:
        try:
            start, gone, put, claims = json.loads(line)
        except (ValueError, TypeError):
            break
        size += len(line) + 1
        changes.append((int(start), int(gone), str(put)))
        claimed.update(Claim(*claim) for claim in claims)
    if size < len(data):
        with suppress(OSError):
            os.truncate(path, size)
    return changes, frozenset(claimed)
