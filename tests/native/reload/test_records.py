"""Records on a real disk: ids, views, forgetting, restarts."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.errors import Missing
from haproxy_native.reload.records import FAILED, KEPT, MOST_REASONS, SUCCEEDED, TAKEN_BACK, Records, ReloadRecord
from tests.databases import damage


@dataclass
class Why:
    section: str = "backend app"
    line: int = 7
    keyword: str = "balance"
    why: str = "HAProxy cannot change it live"
    file: str = ""
    remedy: str = ""


SHOWN = {"section": "backend app", "line": 7, "keyword": "balance", "reason": "HAProxy cannot change it live"}


@dataclass
class Clock:
    now: datetime = datetime(2026, 11, 21, 23, 59, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def records(tmp_path: Path, clock: Clock) -> Records:
    return Records(Database(tmp_path), now=clock)


def done(records: Records, status: str, *, listed: bool = True, response: str = "", refused: bytes | None = None) -> str:
    record = records.issue(listed=listed)
    return records.finish(replace(record, status=status, response=response), refused).id


def test_ids_count_on_over_midnight_and_restarts(records: Records, clock: Clock) -> None:
    assert [records.issue().id, records.issue().id] == ["2026-11-21-0", "2026-11-21-1"]
    clock.now += timedelta(minutes=2)
    assert records.issue().id == "2026-11-22-2"
    again = Records(records.database, now=clock)
    assert again.issue().id == "2026-11-22-3"


@pytest.mark.parametrize("identity", ["2026-11-21-1", "2001-01-01-0", "2099-01-01-5", "nonsense", "", "../2026-11-21-0"])
def test_an_id_never_given_out_is_not_there(records: Records, identity: str) -> None:
    records.issue()
    with pytest.raises(Missing, match=f"Reload with ID {identity} does not exist"):
        records.get(identity)


def test_the_views_of_a_reload_in_progress(records: Records) -> None:
    identity = records.issue([Why()]).id
    assert records.api(identity) == {"id": identity, "status": "in_progress"}
    full = asyncio.run(records.full(identity))
    assert full["reasons"] == (SHOWN,) and full["verified"] is False and "ended" not in full and "reload_timestamp" not in full


def test_the_views_of_a_failed_one(records: Records, clock: Clock) -> None:
    record = replace(records.issue([Why()]), status=FAILED, response="[ALERT] no\n", error="failed", version=7, restored_version=8)
    records.finish(replace(record, verified=True, pid_before=11, pid_after=11), b"broken \xff text")
    stamp = int(clock.now.timestamp())
    assert records.api(record.id) == {"id": record.id, "status": "failed", "response": "[ALERT] no\n", "reload_timestamp": stamp}
    full = asyncio.run(records.full(record.id))
    assert full["refused"] == "broken � text" and asyncio.run(records.refused(record.id)) == b"broken \xff text"
    assert (full["version"], full["restored_version"], full["pid_before"], full["verified"]) == (7, 8, 11, True)
    json.dumps(full)


def test_a_response_is_left_out_when_nothing_was_said(records: Records) -> None:
    assert records.api(done(records, SUCCEEDED, response="yes"))["response"] == "yes"
    assert "response" not in records.api(done(records, SUCCEEDED))
    assert "response" not in records.api(done(records, FAILED))


def test_the_list_has_failures_the_last_success_and_the_pending_one(records: Records) -> None:
    first, failed, last = done(records, SUCCEEDED), done(records, FAILED, response="no"), done(records, SUCCEEDED)
    pending = records.issue().id
    assert [shown["id"] for shown in records.api_list()] == [failed, last, pending]
    assert records.api(first) == {"id": first, "status": "succeeded"}
    assert records.api(last)["reload_timestamp"]


def test_a_forced_reload_is_not_listed_but_known(records: Records) -> None:
    listed = done(records, SUCCEEDED)
    forced = done(records, SUCCEEDED, listed=False)
    assert [shown["id"] for shown in records.api_list()] == [listed]
    assert asyncio.run(records.full(forced))["status"] == "succeeded" and "listed" not in asyncio.run(records.full(forced))


def test_joining_adds_reasons_once_and_makes_it_listed(records: Records) -> None:
    identity = records.issue([Why()], listed=False).id
    records.join(identity, [Why(), Why(keyword="option")])
    record = records.join(identity, [Why()], listed=False)
    assert [reason["keyword"] for reason in record.reasons] == ["balance", "option"] and record.listed


def test_many_reasons_are_cut(records: Records) -> None:
    identity = records.issue([Why(line=line) for line in range(1, 500)]).id
    assert len(records.join(identity, [Why(line=1000)]).reasons) == MOST_REASONS


def test_all_is_remembered_across_a_restart(records: Records, clock: Clock) -> None:
    identity = done(records, FAILED, response="no", refused=b"text")
    again = Records(records.database, now=clock)
    assert asyncio.run(again.full(identity)) == asyncio.run(records.full(identity)) and again.api_list() == records.api_list()
    assert not again.interrupted


def test_what_a_former_process_left_open_stays_so(records: Records, clock: Clock) -> None:
    identity = records.issue([Why()]).id
    again = Records(records.database, now=clock)
    assert [record.id for record in again.interrupted] == [identity]
    assert again.api(identity) == {"id": identity, "status": "in_progress"}
    again.finish(again.get(identity).succeeded(4711))
    assert not again.interrupted and not Records(records.database, now=clock).interrupted


def test_the_work_of_one_is_found_from_the_other(records: Records, clock: Clock) -> None:
    first, second, third = (records.issue([Why()]).id for _ in range(3))
    records.continue_in(first, second)
    records.continue_in(second, third)
    assert [record.id for record in Records(records.database, now=clock).interrupted] == [third]
    assert asyncio.run(records.full(first))["continued_in"] == third and asyncio.run(records.full(first))["status"] == "in_progress"
    records.finish(replace(records.get(third), status=FAILED, error="no", response="it says no", pid_after=4711))
    for identity in (first, second):
        shown = asyncio.run(records.full(identity))
        assert (shown["status"], shown["error"], shown["response"], shown["pid_after"]) == ("failed", "no", "it says no", 4711)
        assert records.api(identity)["reload_timestamp"] == records.api(third)["reload_timestamp"]


def test_forgetting(records: Records, clock: Clock) -> None:
    success, failure = done(records, SUCCEEDED), done(records, FAILED, refused=b"secret")
    clock.now += timedelta(days=2)
    newest = done(records, FAILED)
    assert [shown["id"] for shown in records.api_list()] == [success, newest]
    with pytest.raises(Missing):
        records.get(failure)
    assert [record.id for record in Records(records.database, now=clock).all()] == [success, newest]


def test_a_disk_that_takes_nothing_does_not_stop_a_reload(records: Records, clock: Clock, caplog: pytest.LogCaptureFixture) -> None:
    asyncio.run(damage(records.database))
    identity = done(records, FAILED, refused=b"text")
    assert records.api(identity)["status"] == "failed" and asyncio.run(records.refused(identity)) is None
    assert "writes wait in memory" in caplog.text
    again = Records(Database(records.database.directory), now=clock)
    assert again.all() == [] and "are not known" in caplog.text


def test_the_clock_is_the_local_one(tmp_path: Path) -> None:
    make: Callable[[], str] = lambda: Records(Database(tmp_path)).issue().id  # noqa: E731
    assert make().startswith(str(datetime.now().astimezone().year))


def test_whose_change_is_kept() -> None:
    made = ReloadRecord(
        "r", 1.0, changes=({"request_id": "a", "outcome": KEPT}, {"request_id": "b", "outcome": TAKEN_BACK}, {"outcome": KEPT})
    )
    assert made.keeps_those_of("a") and not made.keeps_those_of("b") and not made.keeps_those_of("") and not made.keeps_those_of("c")
