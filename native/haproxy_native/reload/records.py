"""Records of reloads on disk: one file for each record, and one for each refused configuration.

An id is never given out twice, since its file stands before it is known to anyone; numbers go on across restarts. A reload that
a former process left unfinished stays in progress until the caller has found out what became of it.
"""

import contextlib
import json
import logging
import os
import re
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, field, fields, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, Protocol

from haproxy_native.disk.atomic import write_atomically
from haproxy_native.errors import Missing
from haproxy_native.request_context import origin

log = logging.getLogger(__name__)
IN_PROGRESS, SUCCEEDED, FAILED = "in_progress", "succeeded", "failed"
ID = re.compile(r"\d{4}-\d{2}-\d{2}-(\d+)")
KEPT, TAKEN_BACK = "kept", "taken_back"
INTERRUPTED = "the server ended before the outcome of this reload was known, and the configuration has been changed since"
DAY = 86400.0
_HIDDEN = ("listed", "phase")
_SHARED = (
    *("status", "phase", "version", "restored_version", "ended", "response", "error", "verified", "pid_before", "pid_after"),
    *("changes", "rest_reload_id", "differences"),
)
# Enough to understand a reload; a change of ten thousand servers has as many reasons.
MOST_REASONS = 100
LONGEST_RESPONSE = 65536


class Reason(Protocol):
    """Why only a reload would do: the line and keyword of the configuration."""

    @property
    def section(self) -> str: ...
    @property
    def line(self) -> int: ...
    @property
    def keyword(self) -> str: ...
    @property
    def why(self) -> str: ...
    @property
    def file(self) -> str: ...
    @property
    def remedy(self) -> str: ...


class Phase(StrEnum):
    """How far a reload has come: HAProxy is made to read the file, does not run, or has refused it and the file is being put back."""

    REQUESTED = "requested"
    LOADING = "loading"
    WAITING = "waiting"
    REFUSED = "refused"
    OVER = "over"


@dataclass(frozen=True)
class Record:
    """Times are Unix seconds. `verified`: a worker that was not there before has been seen to answer, or seen not to come.

    `origins`: the requests that asked for it. `listed` is False for a forced reload that took no scheduled one along.
    `error` is why it failed, `response` the output. `continued_in`: the reload that does the work of this one, and has its outcome.
    `changes`, after a failure: those that HAProxy had not loaded, each with its `outcome`, KEPT or TAKEN_BACK. `rest_reload_id`: the reload
    that loads what was kept; empty where that needs none. `differences`, after a success: what the worker does otherwise than the text
    that it has loaded.
    """

    id: str
    requested: float
    status: str = IN_PROGRESS
    listed: bool = True
    reasons: tuple[dict[str, Any], ...] = ()
    origins: tuple[dict[str, str], ...] = ()
    version: int | None = None
    restored_version: int | None = None
    started: float | None = None
    ended: float | None = None
    response: str = ""
    error: str = ""
    verified: bool = False
    pid_before: int | None = None
    pid_after: int | None = None
    phase: str = Phase.REQUESTED
    continued_in: str = ""
    changes: tuple[dict[str, Any], ...] = ()
    rest_reload_id: str = ""
    differences: tuple[str, ...] = ()

    def keeps(self, version: int | None) -> bool:
        """True if the change that made this version is in the file although the reload has failed."""
        return any(change["version"] == version and change["outcome"] == KEPT for change in self.changes)

    @property
    def failure(self) -> str:
        """What a failed reload is answered with: why, and in HAProxy's words."""
        return "Reload failed: " + ", ".join(dict.fromkeys(part for part in (self.error, self.response) if part))

    def keeps_those_of(self, request_id: str) -> bool:
        """True if what a request has changed is in the file although the reload has failed."""
        own = [change["outcome"] for change in self.changes if request_id and change.get("request_id") == request_id]
        return bool(own) and all(outcome == KEPT for outcome in own)

    def succeeded(self, pid: int | None) -> "Record":
        """Returns the record as succeeded: a worker with this pid has loaded the text."""
        return replace(self, status=SUCCEEDED, phase=Phase.OVER, response="", error="", verified=pid is not None, pid_after=pid)

    def failed(self, error: str) -> "Record":
        return replace(self, status=FAILED, phase=Phase.OVER, response=self.response or error, error=self.error or error)

    @property
    def taken_back(self) -> set[int]:
        """The versions that these changes had made."""
        return {change["version"] for change in self.changes if change["outcome"] == TAKEN_BACK}

    @property
    def number(self) -> int:
        return _number(self.id)

    @property
    def reload_timestamp(self) -> int | None:
        return int(self.ended) if self.ended is not None else None


@dataclass
class Records:
    """`keep_days` is for all but the last success and the newest id, which stay."""

    directory: Path
    keep_days: float = 1
    now: Callable[[], datetime] = field(default=lambda: datetime.now().astimezone())

    def __post_init__(self) -> None:
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except OSError as error:
            log.warning("reloads are forgotten at a restart, for %s cannot be used: %s", self.directory, error.strerror)
        paths = _stored(self.directory)
        self._highest = max((_number(path.stem) for path in paths), default=-1)
        self._records = {record.number: record for path in sorted(paths, key=_number_of) if (record := _read(path))}
        self._at_start = [number for number, record in self._records.items() if record.status == IN_PROGRESS]

    @property
    def interrupted(self) -> list[Record]:
        """What a former process left open and is not over yet, in the order of the ids."""
        open_ones = (self._records[number] for number in self._at_start if number in self._records)
        return [record for record in open_ones if record.status == IN_PROGRESS and not record.continued_in]

    @property
    def loading(self) -> list[Record]:
        """The reloads that were at work when a former process ended, and are not over yet."""
        open_ones = (self._records[number] for number in self._at_start if number in self._records)
        return [record for record in open_ones if record.status == IN_PROGRESS and record.phase == Phase.LOADING]

    def issue(self, reasons: Iterable[Reason] = (), *, listed: bool = True) -> Record:
        """A new id, in progress."""
        self._highest += 1
        reported = tuple(map(_reported, reasons))[:MOST_REASONS]
        now = self.now()
        return self.update(Record(f"{now:%Y-%m-%d}-{self._highest}", now.timestamp(), listed=listed, reasons=reported, origins=_asking()))

    def continue_in(self, identity: str, other: str) -> None:
        """Continues the work of a reload, and of those that it continues, under another id from now on."""
        for record in list(self._records.values()):
            if record.status == IN_PROGRESS and identity in (record.id, record.continued_in):
                self.update(replace(record, continued_in=other))

    def join(self, identity: str, reasons: Iterable[Reason], *, listed: bool = True) -> Record:
        """One more request that a pending reload will answer."""
        record = self.get(identity)
        more_reasons = [reported for reason in reasons if (reported := _reported(reason)) not in record.reasons]
        more_origins = [request for request in _asking() if request not in record.origins]
        if not more_reasons and not more_origins and record.listed >= listed:
            return record
        all_reasons, origins = (*record.reasons, *more_reasons)[:MOST_REASONS], (*record.origins, *more_origins)[:MOST_REASONS]
        return self.update(replace(record, reasons=all_reasons, origins=origins, listed=record.listed or listed))

    def update(self, record: Record) -> Record:
        """Remembers it; a disk that does not take it costs the memory of this reload beyond a restart, not the reload."""
        self._records[record.number] = record
        try:
            write_atomically(self.directory / f"{record.id}.json", json.dumps(asdict(record)).encode(), durable=False)
        except OSError as error:
            log.warning("cannot remember reload %s: %s", record.id, error)
        return record

    def finish(self, record: Record, refused: bytes | None = None) -> Record:
        """Ends a record with its outcome, which those that continue in it share, and with the refused text."""
        if refused is not None:
            try:
                write_atomically(self._refused_path(record.id), refused, durable=False)
            except OSError as error:
                log.warning("cannot keep the configuration that reload %s refused: %s", record.id, error)
        record = self.update(replace(record, ended=self.now().timestamp(), response=record.response[:LONGEST_RESPONSE], phase=Phase.OVER))
        shared = {name: getattr(record, name) for name in _SHARED}
        for other in list(self._records.values()):
            if other.continued_in == record.id and other.status == IN_PROGRESS:
                self.update(replace(other, **shared))
        self._purge()
        return record

    def get(self, identity: str) -> Record:
        """Raises Missing for an id that was never given out, or was forgotten in time."""
        record = self._records.get(_number(identity))
        if record is None or record.id != identity:
            raise Missing(f"Reload with ID {identity} does not exist")
        return record

    def all(self) -> list[Record]:
        """Every one that is remembered, the oldest first."""
        return [self._records[number] for number in sorted(self._records)]

    def refused(self, identity: str) -> bytes | None:
        """The configuration that HAProxy did not take."""
        try:
            return self._refused_path(self.get(identity).id).read_bytes()
        except OSError:
            return None

    def api(self, identity: str) -> dict[str, Any]:
        """Returns a reload as `/reloads/{id}` shows it; an earlier success has its status only."""
        record = self.get(identity)
        if record.status == SUCCEEDED and record != self._last_success():
            return {"id": record.id, "status": record.status}
        return _api(record)

    def api_list(self) -> list[dict[str, Any]]:
        """Returns the reloads as `/reloads` lists them: failed ones, the last success, pending ones."""
        last = self._last_success()
        shown = (record for record in self._records.values() if record.status != SUCCEEDED or record == last)
        return [_api(record) for record in shown if record.listed]

    def full(self, identity: str) -> dict[str, Any]:
        """Everything; what is not known is left out."""
        record = self.get(identity)
        refused = self.refused(identity)
        shown = {
            **{name: value for name, value in asdict(record).items() if value not in (None, "") and name not in _HIDDEN},
            "changes": record.changes or None,
            "differences": list(record.differences) or None,
            "refused": None if refused is None else refused.decode("utf-8", "replace"),
        }
        return {name: value for name, value in shown.items() if value is not None}

    def _last_success(self) -> Record | None:
        """A forced reload leaves no trace in the list, so it is none here."""
        listed = [record for record in self._records.values() if record.status == SUCCEEDED and record.listed]
        return max(listed, key=lambda record: record.number, default=None)

    def _purge(self) -> None:
        oldest, last = self.now().timestamp() - self.keep_days * DAY, self._last_success()
        for number, record in list(self._records.items()):
            if number == self._highest or record == last or record.status == IN_PROGRESS or record.requested >= oldest:
                continue
            del self._records[number]
            for path in (self.directory / f"{record.id}.json", self._refused_path(record.id)):
                with contextlib.suppress(OSError):
                    path.unlink()

    def _refused_path(self, identity: str) -> Path:
        return self.directory / f"{identity}.cfg"


def _stored(directory: Path) -> list[Path]:
    """The files of records; none of a directory that cannot be read."""
    try:
        names = os.listdir(directory)
    except OSError:
        return []
    return [directory / name for name in names if name.endswith(".json") and ID.fullmatch(name.removesuffix(".json"))]


def _number(identity: str) -> int:
    """-1 for what is no id."""
    match = ID.fullmatch(identity)
    return int(match[1]) if match else -1


def _number_of(path: Path) -> int:
    return _number(path.stem)


def _asking() -> tuple[dict[str, str], ...]:
    return (dict(origin.get()),) if origin.get() else ()


def _reported(reason: Reason) -> dict[str, Any]:
    members = {
        "section": reason.section,
        "line": reason.line,
        "keyword": reason.keyword,
        "reason": reason.why,
        "file": reason.file,
        "remedy": reason.remedy,
    }
    return {name: value for name, value in members.items() if value}


def _api(record: Record) -> dict[str, Any]:
    if record.status == IN_PROGRESS:
        return {"id": record.id, "status": record.status}
    response = {"response": record.response} if record.response else {}
    return {"id": record.id, "status": record.status, "reload_timestamp": record.reload_timestamp, **response}


def _read(path: Path) -> Record | None:
    """Reads a record; None if the file is not ours or incomplete."""
    try:
        members = json.loads(path.read_bytes())
        known = {name: members[name] for name in (field.name for field in fields(Record)) if name in members}
        record = Record(**{**known, **{name: tuple(known.get(name, ())) for name in ("reasons", "origins", "changes", "differences")}})
    except (OSError, ValueError, TypeError) as error:
        log.warning("cannot read the reload record %s: %s", path, error)
        return None
    return record if record.id == path.stem else None
