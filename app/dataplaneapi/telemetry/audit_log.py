"""Lines that are only ever added: to a file for this user alone, or to the machine's syslog.

A thread of its own writes them, so that no change waits for a disk or a collector. What cannot be written is kept, up to a limit, and tried
again; how many lines were lost is a line itself.
"""

import json
import logging
import os
import queue
import threading
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Protocol

from dataplaneapi.settings.audit import COLLECTOR
from dataplaneapi.telemetry.syslog import Collector

logger = logging.getLogger(__name__)
# authpriv.info
_PRIORITY = 10 * 8 + 6
KEPT, PAUSE, LAST_SECONDS = 10_000, 1.0, 2.0
Line = Callable[[], Mapping[str, Any] | None]


class Sink(Protocol):
    """A destination of lines; `write` and `renew` raise OSError, after which a line is written again."""

    def write(self, line: bytes) -> None: ...

    def renew(self) -> None: ...

    def close(self) -> None: ...


class FileSink:
    def __init__(self, path: Path) -> None:
        self._path, self._file = path, -1
        # What of a line did not fit on the disk.
        self._rest = b""

    def write(self, line: bytes) -> None:
        """Opens the file anew where another one has its name, or none."""
        if self._file < 0 or not self._is_at_path():
            self.renew()
        left = self._rest or line + b"\n"
        while left:
            self._rest = left = left[os.write(self._file, left) :]

    def renew(self) -> None:
        self.close()
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW | os.O_NONBLOCK
        self._file = os.open(self._path, flags, 0o600)

    def close(self) -> None:
        if self._file >= 0:
            os.close(self._file)
        self._file, self._rest = -1, b""

    def _is_at_path(self) -> bool:
        try:
            return os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except FileNotFoundError:
            return False


class SyslogSink:
    """Writes lines as syslog(3) does, which every collector behind /dev/log reads."""

    def __init__(self) -> None:
        self._collector = Collector("unixgram", COLLECTOR)
        self._head = f"<{_PRIORITY}>dataplaneapi-audit[{os.getpid()}]: ".encode()

    def write(self, line: bytes) -> None:
        self._collector.send(self._head + line)

    def renew(self) -> None:
        self._collector.close()

    def close(self) -> None:
        self._collector.close()


class AuditLog:
    """`name` is that of the sink. `trouble`: why nothing can be written now, empty where it can."""

    def __init__(self, sink: Sink, name: str) -> None:
        self._sink, self._name = sink, name
        self.trouble = ""
        self.written = self.lost = 0
        self._unreported = 0
        self._lines: queue.Queue[Line | None] = queue.Queue(KEPT)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def add(self, line: Line) -> None:
        """Returns at once; the line is made in the thread that writes it."""
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self.lost += 1
            self._unreported += 1

    def renew(self) -> None:
        """Opens the file anew before the next line."""
        self.add(self._renew)

    def close(self) -> None:
        """Writes what is left, for a short while."""
        self._ending.set()
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(LAST_SECONDS)
        if self.trouble:
            logger.error("the audit log could not be written to %s up to the end; %d lines were lost", self._name, self.lost)

    def _renew(self) -> None:
        self._try(self._sink.renew)

    def _run(self) -> None:
        while (make := self._lines.get()) is not None:
            try:
                line = make()
            except Exception:
                logger.exception("a line of the audit log cannot be made")
                continue
            if line is not None:
                self._write(line)
            if self._unreported and not self.trouble:
                lost, self._unreported = self._unreported, 0
                self._write({"event": "lost", "lines": lost})
        self._sink.close()

    def _write(self, line: Mapping[str, Any]) -> None:
        data = json.dumps(line).encode()
        while not self._try(lambda: self._sink.write(data)):
            if self._ending.wait(PAUSE):
                self.lost += 1
                return
        self.written += 1

    def _try(self, work: Callable[[], None]) -> bool:
        try:
            work()
        except OSError as error:
            if not self.trouble:
                logger.error("the audit log cannot be written to %s: %s; its lines wait in memory", self._name, error.strerror or error)
            self.trouble = f"{self._name}: {error.strerror or error}"
            return False
        if self.trouble:
            logger.warning("the audit log is written to %s again; %d lines were lost", self._name, self.lost)
        self.trouble = ""
        return True
