"""Write the audit log: a line for each change, made or refused, for each refused login and, if `reads` is set, for each read.

`Audit` subscribes to the events of the engine and builds the lines. `AuditLog` queues the lines and writes them in a thread to a `Sink`: a
file or the syslog of the machine.

No change waits for the audit log. If the sink fails, `AuditLog` retries with the same line every PAUSE seconds, and queues up to KEPT lines
meanwhile. Lines beyond that are lost and counted. After the sink works again, a line of the event `lost` reports their number. If the
server crashes, the lines in the queue are lost without a report.
"""

import json
import logging
import os
import queue
import re
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from dataplaneapi.api.errors import status_of
from dataplaneapi.server.log_rate import Rate
from dataplaneapi.settings.audit import COLLECTOR, AuditSettings
from dataplaneapi.telemetry.syslog import Collector, items_until_end
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.events import CHANGE, FAILED, GRANTED, LIMITED, LOGIN, REFUSED, Committed, Edited, Event, RequestAnswered
from haproxy_native.errors import NativeError
from haproxy_native.planning.effects import Effect
from haproxy_native.request_context import Author

logger = logging.getLogger(__name__)
# The syslog priority: facility authpriv (10), severity info (6).
_PRIORITY = 10 * 8 + 6
# The most queued lines, the seconds between two attempts to write, and the seconds that `close` waits.
KEPT, PAUSE, LAST_SECONDS = 10_000, 1.0, 2.0
# Returns a line, or None for no line. It is called in the thread that writes.
Line = Callable[[], Mapping[str, Any] | None]


class Sink(Protocol):
    """A destination of lines. `write` and `renew` raise OSError, after which the caller retries with the same line."""

    def write(self, line: bytes) -> None: ...

    def renew(self) -> None: ...

    def close(self) -> None: ...


class FileSink:
    """Appends lines to a file that only this user can read."""

    def __init__(self, path: Path) -> None:
        self._path, self._file = path, -1
        # The rest of a line that was written only in part because the disk was full.
        self._rest = b""

    def write(self, line: bytes) -> None:
        """Write a line. If the file was renamed or deleted, create a new file first. Raises OSError."""
        try:
            is_at_path = self._file >= 0 and os.path.samestat(os.stat(self._path), os.fstat(self._file))
        except FileNotFoundError:
            is_at_path = False
        if not is_at_path:
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


class SyslogSink:
    """Sends lines to the syslog of the machine in the format of syslog(3), which every collector at /dev/log accepts."""

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
    """A queue of lines, and the thread that writes them to a sink.

    `name` is the name of the sink in messages. `write_error` is the reason why lines cannot be written at present, or empty. `written` and
    `lost` count lines.
    """

    def __init__(self, sink: Sink, name: str) -> None:
        self._sink, self._name = sink, name
        self.write_error = ""
        self.written = self.lost = 0
        self._unreported = 0
        self._lines: queue.Queue[Line | None] = queue.Queue(KEPT)
        self._ending = threading.Event()
        self._thread = threading.Thread(target=self._run, name="audit", daemon=True)
        self._thread.start()

    def add(self, line: Line) -> None:
        """Queue a line without blocking. If the queue is full, the line is lost."""
        try:
            self._lines.put_nowait(line)
        except queue.Full:
            self.lost += 1
            self._unreported += 1

    def renew(self) -> None:
        """Reopen the sink before the next line."""

        def renew_sink() -> None:
            self._try_sink(self._sink.renew)

        self.add(renew_sink)

    def close(self) -> None:
        """Write the queued lines and end the thread. Blocks for at most LAST_SECONDS."""
        self._ending.set()
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(LAST_SECONDS)
        if self.write_error:
            logger.error("writing the last lines of the audit log to %s failed; %d lines were lost", self._name, self.lost)

    def _run(self) -> None:
        with closing(self._sink):
            for line in self._build_lines():
                write = partial(self._sink.write, json.dumps(line).encode())
                while not self._try_sink(write):
                    if self._ending.is_set():
                        # The remaining lines would fail too, and each attempt may take seconds.
                        self.lost += 1 + sum(1 for _ in items_until_end(self._lines, self._ending))
                        return
                    self._ending.wait(PAUSE)
                self.written += 1

    def _build_lines(self) -> Iterator[Mapping[str, Any]]:
        for make in items_until_end(self._lines, self._ending):
            try:
                line = make()
            except Exception:
                logger.exception("building a line of the audit log failed")
                continue
            if line is not None:
                yield line
            if self._unreported and not self.write_error:
                lost, self._unreported = self._unreported, 0
                yield {"event": "lost", "lines": lost}

    def _try_sink(self, work: Callable[[], None]) -> bool:
        try:
            work()
        except OSError as error:
            if not self.write_error:
                logger.error(
                    "writing the audit log to %s failed: %s; its lines stay in memory until it succeeds",
                    self._name,
                    error.strerror or error,
                )
            self.write_error = f"{self._name}: {error.strerror or error}"
            return False
        if self.write_error:
            logger.warning("writing the audit log to %s succeeds again; %d lines were lost", self._name, self.lost)
        self.write_error = ""
        return True


# The most objects, and the most characters of a path and a reason in a line. Clients choose the length of these.
MOST_OBJECTS, LONGEST_PATH, LONGEST_REASON = 50, 500, 300
# The beginning of the command at the end of HAProxy's refusal.
_COMMAND = re.compile(r" \[[a-z]")
# The quoted words in a message. They are from a file or a body, and may be secrets.
_QUOTED = re.compile(r"""(?<!\w)(?:'[^']*(?:'(?!\w)|$)|"[^"]*(?:"|$))""")


class Audit:
    """The audit log of the server. `on_event` is the listener for the events of the engine. If `settings` is None, nothing is written."""

    def __init__(self, settings: AuditSettings | None) -> None:
        self._settings, self._log = settings, _log(settings)
        # The rates of lines for refused logins, which anybody can cause. The rate of REFUSED is higher than that of typing mistakes.
        self._logins = {LIMITED: Rate(10), REFUSED: Rate(100)}

    @property
    def reads(self) -> bool:
        """Whether the audit log contains reads."""
        return self._settings is not None and self._settings.reads

    @property
    def write_error(self) -> str:
        """The reason why lines cannot be written at present. Empty if lines can be written or there is no audit log."""
        return self._log.write_error if self._log else ""

    @property
    def counts(self) -> Mapping[str, int]:
        """The number of lines by their outcome, `written` or `lost`. Empty if there is no audit log."""
        return {"written": self._log.written, "lost": self._log.lost} if self._log else {}

    def change(self, settings: AuditSettings | None) -> None:
        """Apply new settings. If the destination is the same, reopen the file or socket. Otherwise close the former log in a thread."""
        if self._log and settings and self._settings and settings.path == self._settings.path:
            self._log.renew()
        else:
            former, self._log = self._log, _log(settings)
            if former:
                threading.Thread(target=former.close, name="audit end").start()
        self._settings = settings

    def close(self) -> None:
        """Write the queued lines. Blocks for at most LAST_SECONDS."""
        former, self._log = self._log, None
        if former:
            former.close()

    def on_event(self, event: Event) -> None:
        """Queue the line for an event, unless events of this kind have no lines. Does not block."""
        if (log := self._log) is None:
            return
        now = time.time()
        match event:
            case RequestAnswered(outcome=outcome, kind=kind):
                left_out = self._logins[outcome].left_out(outcome) if kind == LOGIN else 0
                if left_out is not None:
                    log.add(partial(request_line, event, now, left_out))
            case Committed(change=change) if change:
                log.add(partial(commit_line, event, change, now))
            case Edited():
                log.add(partial(edit_line, event, now))


def request_line(event: RequestAnswered, now: float, left_out: int) -> dict[str, Any]:
    """Return the line for a request without a commit. `left_out` is the number of such lines that the rate limit has dropped before."""
    request = event.author.request
    objects = [request.object] if request and request.object else []
    outcome = REFUSED if event.outcome == LIMITED else event.outcome
    return _line(now, event.kind, event.author, outcome, event.reason, objects=objects, login=event.login, left_out=left_out)


def commit_line(event: Committed, change: Change, now: float) -> dict[str, Any]:
    """Return the line for a commit, which was made or refused or has failed."""
    outcome, reason = GRANTED, ""
    if event.error is not None:
        is_refused = isinstance(event.error, NativeError) and status_of(event.error) < 500
        outcome, reason = REFUSED if is_refused else FAILED, str(event.error)
    objects = objects_of(change, event.result)
    about = {"made": event.outcome if event.result else "", "entry": str(event.result.entry or "") if event.result else ""}
    return _line(now, CHANGE, change.author, outcome, reason, objects=objects, **about)


def edit_line(event: Edited, now: float) -> dict[str, Any]:
    """Return the line for an edit that another process has made to the configuration file."""
    return _line(now, CHANGE, event.author, GRANTED, "", objects=_names_of_objects(event.effects), made="outside", owner=event.owner)


def objects_of(change: Change, outcome: Outcome | None) -> list[str]:
    """Return the objects that a change has affected or, if it was refused, would have affected."""
    objects: list[str] = []
    if outcome:
        objects = [
            *_names_of_objects(outcome.effects),
            *(content.object for content in outcome.contents),
            *(member.object for member in outcome.members),
        ]
    if outcome is None or change.sole_operation or (change.files and not change.edits):
        objects.append(change.object)
    return list(dict.fromkeys(filter(None, objects)))


def _names_of_objects(effects: Iterable[Effect]) -> list[str]:
    return [effect.object for effect in effects]


def _line(moment: float, kind: str, author: Author, outcome: str, reason: str, *, objects: list[str], **about: Any) -> dict[str, Any]:
    """Return a line without empty members. `moment` is a Unix time."""
    request = author.request
    line = {
        "time": datetime.fromtimestamp(moment, UTC).isoformat(timespec="microseconds").replace("+00:00", "Z"),
        "event": kind,
        "outcome": outcome,
        "author": author.name,
        "address": author.address,
        "request_id": author.request_id,
        "operation": request.operation if request else "",
        # Only for a request without an operation, since the path of an operation may contain values, such as the key of a map entry.
        "path": request.path[:LONGEST_PATH] if request and not request.operation else "",
        "objects": objects[:MOST_OBJECTS],
        "more_objects": max(0, len(objects) - MOST_OBJECTS),
        "reason": without_values(reason),
        "message": author.message,
        "cause": author.cause,
        "confirmation": author.confirmation,
    }
    return {name: value for name, value in (line | about).items() if value}


def without_values(text: str) -> str:
    """Return the first line of a message with quoted words and runtime commands masked, truncated to LONGEST_REASON characters.

    The other lines of a message quote the configuration, which may contain secrets.
    """
    line = text.partition("\n")[0]
    if line.endswith("]") and (command := _COMMAND.search(line)):
        line = f"{line[: command.start()]} [...]"
    return _QUOTED.sub("'...'", line)[:LONGEST_REASON]


def _log(settings: AuditSettings | None) -> AuditLog | None:
    if settings is None:
        return None
    sink: Sink = FileSink(settings.path) if settings.path else SyslogSink()
    log = AuditLog(sink, str(settings.path or "syslog"))
    # Open the sink now, so that `write_error` reports early if that fails.
    log.renew()
    return log
