"""Operations: what becomes of their work, and of those that a restart interrupts."""

import asyncio
import json
import logging
from pathlib import Path

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.disk.database import Database
from haproxy_native.errors import BadRequest, NotCancellable, NotFound, ShareExceeded, TooManyOperations
from haproxy_native.operations import operations as module
from haproxy_native.operations.operations import CANCELLED, FAILED, RUNNING, SUCCEEDED, Operations, RunningOperation, Work
from haproxy_native.request_context import NOBODY, Author, Request
from tests.databases import stored
from tests.native.operations.asynchronous import finished


async def at_once(running: RunningOperation) -> None:
    running.report(number=running.now.arguments.get("number"))


async def refused(running: RunningOperation) -> None:
    raise BadRequest("it may not be")


async def broken(running: RunningOperation) -> None:
    raise ZeroDivisionError("oh")


async def forever(running: RunningOperation) -> None:
    running.report(begun=running.now.progress.get("begun", 0) + 1)
    await asyncio.Event().wait()


async def final(running: RunningOperation) -> None:
    running.cancellable = False
    await forever(running)


KINDS: dict[str, Work] = {"at_once": at_once, "refused": refused, "broken": broken, "forever": forever, "final": final}


@pytest.mark.parametrize(
    ("kind", "status", "error", "progress"),
    [
        ("at_once", SUCCEEDED, "", {"number": 7}),
        ("refused", FAILED, "it may not be", {}),
        ("broken", FAILED, "ZeroDivisionError: oh", {}),
        ("unheard", FAILED, "KeyError: 'unheard'", {}),
    ],
)
@finished
async def test_the_end(tmp_path: Path, kind: str, status: str, error: str, progress: dict) -> None:
    async with Operations(Database(tmp_path), KINDS, now=lambda: 5.0) as operations:
        begun = operations.begin(kind, number=7, author=NOBODY)
        assert (begun.id, begun.status, begun.created) == ("1", RUNNING, 5.0)
        ended = await operations.wait_until_ended("1", 10)
    assert (ended.status, ended.error, ended.progress, ended.ended) == (status, error, progress, 5.0)
    async with Operations(Database(tmp_path), KINDS) as operations:
        assert operations.all() == [ended]
        assert operations.begin("at_once", author=NOBODY).id == "2"


@finished
async def test_whose_the_work_is(tmp_path: Path) -> None:
    """What it commits later is not of the request that began it, nor of what that waited for."""
    seen = list[Author]()

    async def work(running: RunningOperation) -> None:
        seen.append(running.author)

    ann = Author("ann", "192.0.2.1", "r-1", "why", confirmation="7")
    async with Operations(Database(tmp_path), {"work": work}) as operations:
        await operations.wait_until_ended(operations.begin("work", author=ann).id, 10)
    assert seen == [Author("ann", "192.0.2.1", message="why")]


async def had(seen: list[Author], number: int) -> None:
    async with asyncio.timeout(60):
        while len(seen) < number:
            await asyncio.sleep(0.005)


@finished
async def test_the_rights_of_who_began_it(tmp_path: Path) -> None:
    """Those of now, also in the next process; without the right to begin it the work fails."""
    rights = {"ann": Rights(("operator",), (AccessRule("operation/**", frozenset(("create",))),))}
    seen = list[Author]()

    async def work(running: RunningOperation) -> None:
        seen.append(running.author)
        await asyncio.Event().wait()

    kinds, rights_of = {"work": work}, lambda group, name: rights[name]
    ann = Author("ann", rights=Rights(("admin",)), group="users")
    async with Operations(Database(tmp_path), kinds, rights_of=rights_of) as operations:
        operations.begin("work", needs=("create", "operation"), author=ann)
        await had(seen, 1)
    async with Operations(Database(tmp_path), kinds, resumes=False) as operations:
        assert (await operations.wait_until_ended("1", 10)).status == RUNNING
    async with Operations(Database(tmp_path), kinds, rights_of=rights_of):
        await had(seen, 2)
    roles = [(by.identity, by.rights.roles) for by in seen if isinstance(by.rights, Rights)]
    assert roles == [("users/ann", ("admin",)), ("users/ann", ("operator",))]
    for now, why in ((Rights(("viewer",), (AccessRule("**"),)), "may not create operation"), (Rights(), "no longer has a role")):
        rights["ann"] = now
        database = Database(tmp_path)
        running = json.loads(*database.read(lambda state: state.execute("SELECT data FROM operation").fetchone())) | {"status": RUNNING}
        database.read(lambda state: state.execute("UPDATE operation SET data = ?", (json.dumps(running),)))  # noqa: B023
        database.close()
        async with Operations(Database(tmp_path), kinds, rights_of=rights_of) as operations:
            ended = await operations.wait_until_ended("1", 10)
        assert ended.status == FAILED and why in ended.error and len(seen) == 2


@finished
async def test_waiting_ends_in_time(tmp_path: Path) -> None:
    async with Operations(Database(tmp_path), KINDS) as operations:
        identity = operations.begin("forever", author=NOBODY).id
        assert (await operations.wait_until_ended(identity, 0.01)).status == RUNNING
        for wrong in ("2", "01", "x", "", "-1", "9" * 5000, "²"):
            with pytest.raises(NotFound):
                await operations.wait_until_ended(wrong, 0)


@finished
async def test_cancelled(tmp_path: Path) -> None:
    async with Operations(Database(tmp_path), KINDS) as operations:
        one, other, last = (operations.begin(kind, author=NOBODY).id for kind in ("forever", "final", "at_once"))
        await operations.wait_until_ended(last, 10)
        await operations.cancel(one)
        assert operations.get(one).status == CANCELLED
        for identity in (one, other, last):
            with pytest.raises(NotCancellable, match=f"operation {identity} "):
                await operations.cancel(identity)
        assert [each.id for each in operations.all()] == [last, other, one]


@finished
async def test_a_restart_takes_up_what_runs(tmp_path: Path) -> None:
    async with Operations(Database(tmp_path), KINDS) as operations:
        operations.begin("forever", author=NOBODY)
        await asyncio.sleep(0.01)
        assert operations.get("1").progress == {"begun": 1}
    assert f'"status": "{RUNNING}"' in stored(tmp_path, "operation")
    async with Operations(Database(tmp_path), KINDS) as operations:
        await asyncio.sleep(0.01)
        assert operations.get("1").progress == {"begun": 2}
        await operations.cancel("1")
    async with Operations(Database(tmp_path), KINDS) as operations:
        assert operations.get("1").status == CANCELLED


@finished
async def test_one_that_is_due_later(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where the clock was set meanwhile, or nobody was there at that time."""
    monkeypatch.setattr(module, "SLEEP_SECONDS", 0.01)
    clock = [100.0]
    async with Operations(Database(tmp_path), KINDS, now=lambda: clock[0]) as operations:
        first, second = operations.begin("at_once", 110.0, author=NOBODY), operations.begin("at_once", 200.0, author=NOBODY)
        assert (await operations.wait_until_ended(first.id, 0.05)).status == RUNNING
        clock[0] = 111.0
        assert (await operations.wait_until_ended(first.id, 10)).status == SUCCEEDED
        assert operations.get(second.id).status == RUNNING
    clock[0] = 300.0
    async with Operations(Database(tmp_path), KINDS, now=lambda: clock[0]) as operations:
        assert (await operations.wait_until_ended(second.id, 10)).status == SUCCEEDED


@finished
async def test_there_is_room_for_so_many(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RUNNING", 2)
    monkeypatch.setattr(module, "MOST_ENDED", 3)
    async with Operations(Database(tmp_path), KINDS) as operations:
        for _ in range(5):
            await operations.wait_until_ended(operations.begin("at_once", author=NOBODY).id, 10)
        assert [each.id for each in operations.all()] == ["5", "4", "3"]
        await operations.written()
        assert stored(tmp_path, "operation").count('"id"') == 3
        operations.begin("forever", author=NOBODY)
        operations.begin("forever", author=NOBODY)
        with pytest.raises(TooManyOperations):
            operations.begin("at_once", author=NOBODY)


@finished
async def test_one_caller_leaves_room_for_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_RUNNING", 4)
    ann, root = (Author(name, group="users", request=Request(), rights=rights) for name, rights in (("ann", Rights()), ("root", None)))
    async with Operations(Database(tmp_path), KINDS) as operations:
        operations.begin("forever", author=ann)
        operations.begin("forever", author=ann)
        with pytest.raises(ShareExceeded, match="ann has 2 running operations, one caller may have 2 of 4"):
            operations.begin("forever", author=ann)
        operations.begin("forever", author=root)
        operations.begin("forever", author=root)
        with pytest.raises(TooManyOperations):
            operations.begin("forever", author=root)


@finished
async def test_a_disk_that_takes_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "file").write_text("")
    with caplog.at_level(logging.WARNING):
        async with Operations(Database(tmp_path / "file"), KINDS) as operations:
            assert (await operations.wait_until_ended(operations.begin("at_once", author=NOBODY).id, 10)).status == SUCCEEDED
    assert "reading stored operations failed" in caplog.text and "writes wait in memory" in caplog.text
