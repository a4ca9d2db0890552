"""Records of reloads, in memory and as rows, with the configurations that HAProxy has refused.

A row is written before all that is written later, such as the entry of the change that needs the reload: an id that was answered is never
given out twice, and numbers go on across restarts. A reload that a former process left unfinished stays in progress until the caller has
found out what became of it.
"""

import json
import logging
import re
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Any, Protocol

from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import Missing, Unusable
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
_STATEMENTS = "CREATE TABLE reload_record (number INTEGER PRIMARY KEY, data TEXT NOT NULL, refused BLOB)"


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

    database: Database
    keep_days: float = 1
    now: Callable[[], datetime] = field(default=lambda: datetime.now().astimezone())

    def __post_init__(self) -> None:
        self.database.declare(
            Tables("reloads", "CREATE TABLE reload_record (number INTEGER PRIMARY KEY, data TEXT NOT NULL, refused BLOB)")
        )
        stored: list[Record] = []
        try:
            stored = self.database.read(_stored)
        except Unusable as error:
            log.warning("the reloads of former processes are not known: %s", error)
        self._highest = max((record.number for record in stored), default=-1)
        self._records = {record.number: record for record in stored}
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
        self.database.post(partial(_store, record))
        return record

    async def written(self) -> None:
        """Returns once what was remembered is on disk, or queued in memory until the disk takes it."""
        with suppress(Unusable):
            await self.database.catch_up()

    def finish(self, record: Record, refused: bytes | None = None) -> Record:
        """Ends a record with its outcome, which those that continue in it share, and with the refused text."""
        record = self.update(replace(record, ended=self.now().timestamp(), response=record.response[:LONGEST_RESPONSE], phase=Phase.OVER))
        shared = {name: getattr(record, name) for name in _SHARED}
        for other in list(self._records.values()):
            if other.continued_in == record.id and other.status == IN_PROGRESS:
                self.update(replace(other, **shared))
        if refused is not None:
            self.database.post(partial(_store_refused, record.number, refused))
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

    async def refused(self, identity: str) -> bytes | None:
        """The configuration that HAProxy did not take."""
        number = self.get(identity).number
        with suppress(Unusable):
            return await self.database.run(partial(_refused, number))
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

    async def full(self, identity: str) -> dict[str, Any]:
        """Everything; what is not known is left out."""
        record = self.get(identity)
        refused = await self.refused(identity)
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
            self.database.post(partial(_delete, number))


def _stored(state: State) -> list[Record]:
    """Returns the stored records, the oldest first."""
    rows = [json.loads(data) for (data,) in state.execute("SELECT data FROM reload_record ORDER BY number")]
    return [Record(**row | {name: tuple(row[name]) for name in ("reasons", "origins", "changes", "differences")}) for row in rows]


def _store(record: Record, state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("INSERT OR IGNORE INTO reload_record (number, data) VALUES (?, '')", (record.number,))
        state.execute("UPDATE reload_record SET data = ? WHERE number = ?", (json.dumps(asdict(record)), record.number))


def _store_refused(number: int, text: bytes, state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("UPDATE reload_record SET refused = ? WHERE number = ?", (text, number))


def _refused(number: int, state: State) -> bytes | None:
    row = state.execute("SELECT refused FROM reload_record WHERE number = ?", (number,)).fetchone()
    return row[0] if row else None


def _delete(number: int, state: State) -> None:
    with state.transaction(is_synced=False):
        state.execute("DELETE FROM reload_record WHERE number = ?", (number,))


def _number(identity: str) -> int:
    """-1 for what is no id."""
    match = ID.fullmatch(identity)
    return int(match[1]) if match else -1


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
