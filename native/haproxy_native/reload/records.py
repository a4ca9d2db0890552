"""Store the records of reloads, in memory and in the database, with the configurations that HAProxy has refused.

The database writes in order, so the row of a reload is on disk before the history entry of the change that needs the reload. Therefore an
id that a client has received is never issued again, and numbers continue after a restart. A reload that a former process has left
unfinished stays in progress until the caller has determined its outcome.
"""

import json
import logging
import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from typing import Any

from haproxy_native.disk.database import Database, State, Tables
from haproxy_native.errors import Missing, Unusable
from haproxy_native.planning.outcome import Reason
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
# The number of reasons that are stored for one reload. A change of ten thousand servers has ten thousand reasons.
MOST_REASONS = 100
LONGEST_RESPONSE = 65536
_STATEMENTS = "CREATE TABLE reload_record (number INTEGER PRIMARY KEY, data TEXT NOT NULL, refused BLOB)"


class Phase(StrEnum):
    """The phase of a reload in progress."""

    REQUESTED = "requested"
    # The strategy is making HAProxy read the file.
    LOADING = "loading"
    # HAProxy does not run, and reads the file when it starts.
    WAITING = "waiting"
    # HAProxy has refused the file, and the former file is being restored.
    REFUSED = "refused"
    OVER = "over"


@dataclass(frozen=True)
class ReloadRecord:
    """One reload. Times are Unix seconds."""

    id: str
    requested: float
    status: str = IN_PROGRESS
    # False for a forced reload that no scheduled one has joined.
    listed: bool = True
    reasons: tuple[dict[str, Any], ...] = ()
    # The requests whose changes need it.
    origins: tuple[dict[str, str], ...] = ()
    # The version that HAProxy has read, and after a failure the version of the restored file.
    version: int | None = None
    restored_version: int | None = None
    started: float | None = None
    ended: float | None = None
    # The output of the reload, and after a failure a short reason.
    response: str = ""
    error: str = ""
    # Whether the outcome was observed: a new worker has answered, or was seen not to start.
    verified: bool = False
    pid_before: int | None = None
    pid_after: int | None = None
    phase: str = Phase.REQUESTED
    # The id of the reload that replaces this one. Both have the same outcome.
    continued_in: str = ""
    # After a failure: the changes that HAProxy had not loaded, each with its `outcome`, KEPT or TAKEN_BACK.
    changes: tuple[dict[str, Any], ...] = ()
    # The id of the reload that loads the kept changes; empty if they need none.
    rest_reload_id: str = ""
    # After a success: a sentence for each difference between the worker and the text that it has loaded.
    differences: tuple[str, ...] = ()

    def keeps(self, version: int | None) -> bool:
        """Return whether the change that made this version is still in the file after the reload has failed."""
        return any(change["version"] == version and change["outcome"] == KEPT for change in self.changes)

    @property
    def failure(self) -> str:
        """The error message for a request whose reload has failed: the reason, and HAProxy's output."""
        return "Reload failed: " + ", ".join(dict.fromkeys(part for part in (self.error, self.response) if part))

    def keeps_those_of(self, request_id: str) -> bool:
        """Return whether all changes of a request are still in the file after the reload has failed. False if it made no change."""
        own = [change["outcome"] for change in self.changes if request_id and change.get("request_id") == request_id]
        return bool(own) and all(outcome == KEPT for outcome in own)

    def succeeded(self, pid: int | None) -> "ReloadRecord":
        """Return the record as succeeded: the worker with this pid has loaded the text."""
        return replace(self, status=SUCCEEDED, phase=Phase.OVER, response="", error="", verified=pid is not None, pid_after=pid)

    def failed(self, error: str) -> "ReloadRecord":
        return replace(self, status=FAILED, phase=Phase.OVER, response=self.response or error, error=self.error or error)

    @property
    def taken_back(self) -> set[int]:
        """The versions of the changes that were reverted."""
        return {change["version"] for change in self.changes if change["outcome"] == TAKEN_BACK}

    @property
    def number(self) -> int:
        return _number(self.id)

    @property
    def reload_timestamp(self) -> int | None:
        return int(self.ended) if self.ended is not None else None


@dataclass
class Records:
    """The records of all reloads. A record is deleted after `keep_days`, unless it is the last success or the newest record."""

    database: Database
    keep_days: float = 1
    now: Callable[[], datetime] = field(default=lambda: datetime.now().astimezone())

    def __post_init__(self) -> None:
        def read(state: State) -> list[ReloadRecord]:
            rows = [json.loads(data) for (data,) in state.execute("SELECT data FROM reload_record ORDER BY number")]
            lists = ("reasons", "origins", "changes", "differences")
            return [ReloadRecord(**row | {name: tuple(row[name]) for name in lists}) for row in rows]

        self.database.declare(Tables("reloads", _STATEMENTS))
        stored: list[ReloadRecord] = []
        try:
            stored = self.database.read(read)
        except Unusable as error:
            log.warning("the reloads of former processes are not known: %s", error)
        self._highest = max((record.number for record in stored), default=-1)
        self._records = {record.number: record for record in stored}
        self._at_start = [number for number, record in self._records.items() if record.status == IN_PROGRESS]

    @property
    def interrupted(self) -> list[ReloadRecord]:
        """The reloads that a former process has left in progress and whose outcome is still unknown, in the order of their ids."""
        open_ones = (self._records[number] for number in self._at_start if number in self._records)
        return [record for record in open_ones if record.status == IN_PROGRESS and not record.continued_in]

    @property
    def loading(self) -> list[ReloadRecord]:
        """The interrupted reloads for which HAProxy was reading the file when the former process ended."""
        open_ones = (self._records[number] for number in self._at_start if number in self._records)
        return [record for record in open_ones if record.status == IN_PROGRESS and record.phase == Phase.LOADING]

    def issue(self, reasons: Iterable[Reason] = (), *, listed: bool = True) -> ReloadRecord:
        """Create the record of a new reload, which is in progress."""
        self._highest += 1
        reported = tuple(map(_reported, reasons))[:MOST_REASONS]
        now = self.now()
        return self.update(
            ReloadRecord(f"{now:%Y-%m-%d}-{self._highest}", now.timestamp(), listed=listed, reasons=reported, origins=_current_origin())
        )

    def continue_in(self, identity: str, other: str) -> None:
        """Record that the reload `other` replaces the reload `identity` and all reloads that `identity` has replaced."""
        for record in list(self._records.values()):
            if record.status == IN_PROGRESS and identity in (record.id, record.continued_in):
                self.update(replace(record, continued_in=other))

    def join(self, identity: str, reasons: Iterable[Reason], *, listed: bool = True) -> ReloadRecord:
        """Add the reasons and the origin of a request to a pending reload, and return its record."""
        record = self.get(identity)
        more_reasons = [reported for reason in reasons if (reported := _reported(reason)) not in record.reasons]
        more_origins = [request for request in _current_origin() if request not in record.origins]
        if not more_reasons and not more_origins and record.listed >= listed:
            return record
        all_reasons, origins = (*record.reasons, *more_reasons)[:MOST_REASONS], (*record.origins, *more_origins)[:MOST_REASONS]
        return self.update(replace(record, reasons=all_reasons, origins=origins, listed=record.listed or listed))

    def update(self, record: ReloadRecord) -> ReloadRecord:
        """Store a record, and queue its write to disk. If the write fails, the record is lost at the next restart."""

        def write(state: State) -> None:
            with state.transaction(is_synced=False):
                state.execute("INSERT OR IGNORE INTO reload_record (number, data) VALUES (?, '')", (record.number,))
                state.execute("UPDATE reload_record SET data = ? WHERE number = ?", (json.dumps(asdict(record)), record.number))

        self._records[record.number] = record
        self.database.post(write)
        return record

    async def written(self) -> None:
        """Wait until each queued write is on disk, or has failed and stays in memory."""
        with suppress(Unusable):
            await self.database.catch_up()

    def finish(self, record: ReloadRecord, refused: bytes | None = None) -> ReloadRecord:
        """End a record with its outcome, end the reloads that it replaces with the same outcome, and delete old records.

        `refused`: the configuration that HAProxy has refused, to be stored with the record.
        """

        def write_refused(state: State) -> None:
            with state.transaction(is_synced=False):
                state.execute("UPDATE reload_record SET refused = ? WHERE number = ?", (refused, record.number))

        def delete_old(state: State) -> None:
            with state.transaction(is_synced=False):
                for number in old:
                    state.execute("DELETE FROM reload_record WHERE number = ?", (number,))

        record = self.update(replace(record, ended=self.now().timestamp(), response=record.response[:LONGEST_RESPONSE], phase=Phase.OVER))
        shared = {name: getattr(record, name) for name in _SHARED}
        for other in list(self._records.values()):
            if other.continued_in == record.id and other.status == IN_PROGRESS:
                self.update(replace(other, **shared))
        if refused is not None:
            self.database.post(write_refused)
        oldest, last = self.now().timestamp() - self.keep_days * DAY, self._last_success()
        old = [
            number
            for number, other in self._records.items()
            if number != self._highest and other != last and other.status != IN_PROGRESS and other.requested < oldest
        ]
        for number in old:
            del self._records[number]
        if old:
            self.database.post(delete_old)
        return record

    def get(self, identity: str) -> ReloadRecord:
        """Return a record. Raises Missing for an id that was never issued, or whose record was deleted."""
        record = self._records.get(_number(identity))
        if record is None or record.id != identity:
            raise Missing(f"Reload with ID {identity} does not exist")
        return record

    def all(self) -> list[ReloadRecord]:
        """Return all records, the oldest first."""
        return [self._records[number] for number in sorted(self._records)]

    async def refused(self, identity: str) -> bytes | None:
        """Return the configuration that HAProxy has refused; None if there is none."""
        number = self.get(identity).number

        def read(state: State) -> bytes | None:
            row = state.execute("SELECT refused FROM reload_record WHERE number = ?", (number,)).fetchone()
            return row[0] if row else None

        with suppress(Unusable):
            return await self.database.run(read)
        return None

    def api(self, identity: str) -> dict[str, Any]:
        """Return a reload in the form of `/reloads/{id}`. Successes before the last one have only id and status."""
        record = self.get(identity)
        if record.status == SUCCEEDED and record != self._last_success():
            return {"id": record.id, "status": record.status}
        return _api(record)

    def api_list(self) -> list[dict[str, Any]]:
        """Return the reloads that `/reloads` lists: failed ones, the last success, and pending ones."""
        last = self._last_success()
        shown = (record for record in self._records.values() if record.status != SUCCEEDED or record == last)
        return [_api(record) for record in shown if record.listed]

    async def full(self, identity: str) -> dict[str, Any]:
        """Return all members of a reload, except unknown and empty ones."""
        record = self.get(identity)
        refused = await self.refused(identity)
        shown = {
            **{name: value for name, value in asdict(record).items() if value not in (None, "") and name not in _HIDDEN},
            "changes": record.changes or None,
            "differences": list(record.differences) or None,
            "refused": None if refused is None else refused.decode("utf-8", "replace"),
        }
        return {name: value for name, value in shown.items() if value is not None}

    def _last_success(self) -> ReloadRecord | None:
        """Return the last success that is listed. Forced reloads are not listed."""
        listed = [record for record in self._records.values() if record.status == SUCCEEDED and record.listed]
        return max(listed, key=lambda record: record.number, default=None)


def _number(identity: str) -> int:
    """Return the number in an id; -1 if `identity` is not a valid id."""
    match = ID.fullmatch(identity)
    return int(match[1]) if match else -1


def _current_origin() -> tuple[dict[str, str], ...]:
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


def _api(record: ReloadRecord) -> dict[str, Any]:
    if record.status == IN_PROGRESS:
        return {"id": record.id, "status": record.status}
    response = {"response": record.response} if record.response else {}
    return {"id": record.id, "status": record.status, "reload_timestamp": record.reload_timestamp, **response}


@dataclass(frozen=True)
class Advice:
    """A frequent cause of reloads, and how to avoid it."""

    # How many reloads had this cause: in percent of the reloads that have reasons, and as a number.
    share: int
    reloads: int
    cause: str
    # Empty if no edit would make these reloads unnecessary.
    remedy: str
    # The id of the last reload with this cause, and its first such reason.
    last: str
    reason: Mapping[str, Any]


def advise(records: Iterable[ReloadRecord]) -> tuple[int, list[Advice]]:
    """Return the number of reloads that have reasons, and the causes of these reloads, the most frequent first.

    A reload may have several causes. Reasons with the same keyword and remedy are one cause. Reasons that have neither are one cause if
    their text is the same.
    """
    kinds: dict[tuple[str, str], dict[str, Mapping[str, Any]]] = defaultdict(dict)
    counted = [record for record in records if record.reasons]
    for record in counted:
        for reason in record.reasons:
            keyword, remedy = str(reason.get("keyword", "")), str(reason.get("remedy", ""))
            kinds[keyword or ("" if remedy else str(reason["reason"])), remedy].setdefault(record.id, reason)
    rows: list[Advice] = []
    for (_, remedy), reloads in kinds.items():
        last, example = list(reloads.items())[-1]
        cause = str(example["reason"])
        if shared := example.get("keyword"):
            # Without a remedy, only the keyword is common to all reasons of this cause.
            cause = f"{shared}: {cause}" if example.get("remedy") else f"{shared} lines"
        rows.append(Advice(round(100 * len(reloads) / len(counted)), len(reloads), cause, remedy, last, example))
    return len(counted), sorted(rows, key=lambda advice: -advice.reloads)
