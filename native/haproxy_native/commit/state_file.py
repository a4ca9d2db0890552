"""What must survive a restart of the server, in one small file: the version of an edit from outside, and what the worker has loaded."""

import json
import logging
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from hashlib import md5
from pathlib import Path
from typing import Any

from haproxy_native.disk.atomic import remove_drafts, write_atomically
from haproxy_native.editing.header import Stamped, checksum_of
from haproxy_native.text.parts import is_joined

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class State:
    """Texts are named by their fingerprints.

    `version` is that of `file`, the text on disk as last known. `running` is what the worker with this pid and start has loaded;
    `pending` are the texts that it was to load next, separated by blanks. `drift`: runtime-only changes in that worker, with the value
    before. `answered`: a worker has answered once, so that HAProxy is known to run here. `tried`: the text before a change and the text
    after it, separated by a blank, while its commands are sent ahead of the file: the worker may do either.
    """

    version: int = 0
    file: str = ""
    running: str = ""
    pid: int = 0
    started: float = 0
    pending: str = ""
    drift: dict[str, str] = field(default_factory=dict)
    answered: bool = False
    tried: str = ""


class StateFile:
    """`value` is in memory; the disk has it but for what was only noted.

    A directory that cannot be written is logged: after a restart less is known.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        remove_drafts(path.parent, path.name)
        self.value = self._written = _read(path)

    def note(self, **changes: Any) -> None:
        """Changes memory only: recoverable from haproxy.cfg, and written with the next `set`."""
        self.value = replace(self.value, **changes)

    def set(self, **changes: Any) -> None:
        self.note(**changes)
        if self.value != self._written:
            self._write()

    def owe(self, former: str, new: str) -> None:
        """Records that the text `new` is about to become the file and to be loaded; `former` stays pending until then."""
        remaining = [former] if former in self.value.pending.split() else []
        self.set(pending=" ".join([*remaining, new]))

    def _write(self) -> None:
        try:
            self.path.parent.mkdir(mode=0o750, parents=True, exist_ok=True)
            write_atomically(self.path, json.dumps(asdict(self.value), indent=2).encode() + b"\n", durable=False)
            self._written = self.value
        except OSError as error:
            log.warning("cannot write %s: %s; after a restart less is known, and the first change may reload", self.path, error.strerror)


def fingerprint(data: bytes) -> str:
    """The length and a checksum; in a file with a checksum line that of all behind it, which then is the same."""
    checked = data.partition(b"\n")[2] if checksum_of(data) else data
    return f"{len(data)}-{md5(checked, usedforsecurity=False).hexdigest()}"


def stamped_fingerprint(stamped: Stamped) -> str:
    return fingerprint(stamped.data) if is_joined(stamped.document) else f"{stamped.size}-{stamped.checksum}"


_TYPES: dict[str, Callable[[Any], Any]] = {
    "version": int,
    "pid": int,
    "started": float,
    "file": str,
    "running": str,
    "pending": str,
    "drift": dict,
    "answered": bool,
    "tried": str,
}


def _read(path: Path) -> State:
    with suppress(OSError, ValueError, TypeError):
        stored = json.loads(path.read_bytes())
        return State(**{name: kind(stored[name]) for name, kind in _TYPES.items() if name in stored})
    return State()
