"""Reloads at work, in memory and on disk: after a kill of the server it is known which text a new worker has read.

Live changes replace the file while HAProxy loads it. So the text that it was made to load is kept in a file of its own until the outcome
is known, and beside it the same text with the changes that were made live meanwhile, in the former worker.
"""

import asyncio
import logging
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.runtime.client import Worker
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
_TEXT, _WANTED = ".cfg", ".wanted"


class LoadedText(NamedTuple):
    """The text that HAProxy was made to read."""

    document: Document
    fingerprint: str
    version: int


@dataclass
class Load:
    """A reload at work. `began`: Unix seconds. `edits`: the number of edits from outside when it began. `over` is set at its end.

    `wanted`: the loaded document with the changes that the former worker has taken live meanwhile.
    """

    loaded: LoadedText
    edits: int
    began: float
    wanted: Document
    over: asyncio.Event = field(default_factory=asyncio.Event)


class Loads:
    """Kept in a directory of their own; where that cannot be written, less is known after a restart. All methods block."""

    def __init__(self, directory: Path, like: Path) -> None:
        self._directory, self._like = directory, like

    def begin(self, document: Document) -> float:
        """Keeps the text that HAProxy is about to load; returns the time, in Unix seconds."""
        began = time.time()
        self._write(self._path(began, _TEXT), document)
        return began

    def want(self, load: Load) -> None:
        """Keeps what the new worker has to do in addition to the loaded text."""
        self._write(self._path(load.began, _WANTED), load.wanted)

    def end(self) -> None:
        """The outcome of the last load is known."""
        with suppress(OSError):
            for path in self._directory.iterdir():
                path.unlink()

    def read_by(self, worker: Worker) -> tuple[Document, Document] | None:
        """The text that a worker has loaded, and what it has to do; None where it is not of a load whose outcome is open."""
        with suppress(OSError, ValueError):
            before = [path for path in self._directory.glob("*" + _TEXT) if worker.may_have_started_after(float(path.stem))]
            path = max(before, key=lambda file: float(file.stem), default=None)
            if path is not None:
                document, wanted = Document.parse(path.read_bytes()), path.with_suffix(_WANTED)
                return document, Document.parse(wanted.read_bytes()) if wanted.exists() else document
        return None

    def _path(self, began: float, suffix: str) -> Path:
        return self._directory / f"{began:.6f}{suffix}"

    def _write(self, path: Path, document: Document) -> None:
        try:
            self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
            write_atomically(path, document.data, like=self._like, durable=False)
        except OSError as error:
            log.warning("cannot write %s: %s; after a restart it may be unknown what HAProxy has loaded", path, error.strerror)
