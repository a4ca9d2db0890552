import asyncio
import os
import sqlite3
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.change import Change, Content, MemberChange, Outcome, Texts
from haproxy_native.commit.commit import change_process, commit
from haproxy_native.errors import Refused, Unrecorded, Unusable
from haproxy_native.history.contents import delete_contents
from haproxy_native.history.entries import CONFIGURATION, RUNTIME, Entry
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.request_context import NOBODY, OUTSIDE, Author
from haproxy_native.text.document import Document
from tests.databases import connected, damage
from tests.native.engines import ByFunction, adding, beside, run, running_engine

TEXT = "global\n"
ANN = Author("ann", request_id="r-1")


@asynccontextmanager
async def recorded(directory: Path, **changes):
    if not (directory / "haproxy.cfg").exists():
        (directory / "haproxy.cfg").write_text(TEXT)
    async with running_engine(directory, **changes) as engine, History(engine.context, engine.database) as history:
        yield engine, history


def state(directory: Path) -> Path:
    """Where the database is, which may stand there before the engine starts."""
    (directory / "storage").mkdir(exist_ok=True)
    return directory / "storage" / "state"


async def entries(history: History) -> list[Entry]:
    return await history.ask(lambda journal: list(journal.find()))


def test_a_change_is_entered_before_it_is_answered(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            ann = Author("ann", "192.0.2.1", "r-1", "why")
            await engine.write([ByFunction(adding("b"))], Version(1), author=ann)
            with connected(state(tmp_path) / "state.db") as database:
                assert database.execute("SELECT name, message, version FROM begun").fetchall() == [("ann", "why", 2)]
            (entry,) = await entries(history)
            assert entry.kind == CONFIGURATION
            (content,) = await history.ask(Journal.contents, entry.id)
            assert content.before == TEXT.encode() and content.after == (tmp_path / "haproxy.cfg").read_bytes()
            assert await history.ask(Journal.objects, entry.id) == ["backend/b"]
            while (effects := await history.ask(Journal.effects, entry.id)) is None:
                await history.settled()
            assert [each["object"] for each in effects] == ["backend/b"]
            assert await history.ask(Journal.summary, entry.id) == "create backend/b"

    run(work())


def test_an_edit_by_others(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            (tmp_path / "haproxy.cfg").write_text(TEXT + "# by hand\n")
            assert await engine.notice()
            async with asyncio.timeout(60):
                while not (found := await entries(history)):
                    await asyncio.sleep(0.01)
            assert (found[0].author.name, found[0].outcome, bool(found[0].owner)) == (OUTSIDE, OUTSIDE, True)

    run(work())


def test_an_edit_while_the_server_did_not_run(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
        path = tmp_path / "haproxy.cfg"
        path.write_text(path.read_text() + "# by hand\n")
        async with recorded(tmp_path) as (engine, history):
            async with asyncio.timeout(60):
                while len(found := await entries(history)) < 2:
                    await asyncio.sleep(0.01)
            assert found[0].author.name == OUTSIDE
            (content,) = await history.ask(Journal.contents, found[0].id)
            assert content.after == path.read_bytes() and content.after.endswith(b"# by hand\n")
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("c"))], Version(engine.version()), author=NOBODY)
            assert len(await entries(history)) == 3, "once"

    run(work())


def test_effects_that_a_stop_has_cut_off_are_computed_later(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, _):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
        with connected(state(tmp_path) / "state.db") as database:
            database.executescript("DELETE FROM effects; DELETE FROM touched")
        async with recorded(tmp_path) as (_, history):
            async with asyncio.timeout(60):
                while not await history.ask(Journal.effects, 1):
                    await asyncio.sleep(0.01)
            assert await history.ask(Journal.objects, 1) == ["backend/b"]

    run(work())


def test_the_process_alone(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            member = MemberChange("backend/b/server/a", "weight", 1, 2)

            async def apply() -> list[MemberChange]:
                return [member]

            await change_process(engine.context, member.object, apply, author=NOBODY)
            (entry,) = await entries(history)
            assert entry.kind == RUNTIME and await history.ask(Journal.members, entry.id) == [member]

    run(work())


def test_what_was_refused(tmp_path: Path) -> None:
    async def work() -> None:
        binary = tmp_path / "haproxy"
        binary.write_text("#!/bin/sh\necho '[ALERT] (1) : config : parsing [x:1] : no'; exit 1\n")
        binary.chmod(0o755)
        async with recorded(tmp_path, check=CheckSettings(str(binary))) as (engine, history):
            with pytest.raises(Refused):
                await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            async with asyncio.timeout(60):
                while not (found := await history.ask(lambda journal: list(journal.refusals()))):
                    await asyncio.sleep(0.01)
            assert "no" in found[0].reason and await entries(history) == []

    run(work())


def test_a_change_that_cannot_be_entered_is_refused(tmp_path: Path) -> None:
    """Before anything is changed; a change of the process alone proceeds."""
    made: list[int] = []

    async def change() -> None:
        made.append(1)

    async def work() -> None:
        state(tmp_path).write_text("no directory")
        async with recorded(tmp_path) as (engine, history):
            ann = Author("ann", "192.0.2.1", "r-1")
            with pytest.raises(Unrecorded, match="the database .* cannot be used"):
                await engine.write([ByFunction(adding("b"))], Version(1), author=ann)
            other = Content("spoe/a.cfg", str(tmp_path / "a.cfg"), None, b"x")
            with pytest.raises(Unrecorded, match="the database .* cannot be used"):
                await commit(engine.context, Change([beside(other, lambda _: pytest.fail("it is made"))], author=ann))
            assert engine.version() == 1 and (tmp_path / "haproxy.cfg").read_text() == TEXT
            await change_process(engine.context, "backend/b/server/a", change, author=ann)
            assert made and "writes wait in memory: the database" in engine.database.backlog
            state(tmp_path).unlink()
            await engine.write([ByFunction(adding("b"))], Version(1), author=ann)
            assert [entry.kind for entry in await entries(history)] == [CONFIGURATION, RUNTIME] and engine.database.backlog == ""

    run(work())


def test_a_disk_that_takes_nothing_costs_no_change_that_no_client_asks_for(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        state(tmp_path).write_text("no directory")
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            assert engine.version() == 2 and "1 writes wait in memory" in caplog.text
            with pytest.raises(Unusable, match="cannot be used"):
                await entries(history)
            state(tmp_path).unlink()
            await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
            assert [entry.version for entry in await entries(history)] == [3, 2]

    run(work())


def test_what_a_key_was_is_not_kept_any_more(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """A change of it is made, and entered, as any other; so is what others have changed while the server did not run."""
    key = tmp_path / "a.pem"

    async def replaced(history: History, before: bytes | None, after: bytes) -> None:
        async def store(data: bytes | None) -> None:
            key.write_bytes(data or b"")

        content = Content("certificate/a.pem", str(key), before, after)
        await commit(history.context, Change([beside(content, store)], author=NOBODY))

    async def work() -> None:
        keys = [b"-----BEGIN PRIVATE KEY-----\n%d" % number for number in range(3)]
        async with recorded(tmp_path) as (engine, history):
            await replaced(history, None, keys[0])
            await engine.database.run(lambda state: delete_contents(state.keys, 2))
            await replaced(history, keys[0], keys[1])
            assert [entry.id for entry in await entries(history)] == [2, 1]
            await engine.database.run(lambda state: delete_contents(state.keys, 3))
        (tmp_path / "haproxy.cfg").write_text(TEXT + "# by hand\n")
        key.write_bytes(keys[2])
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            await history.settled()
            assert await history.ask(Journal.without_effects) == []
            assert "for edits by others failed" in caplog.text

    run(work())


def test_an_unexpected_error(tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch) -> None:
    """Costs an entry, or its effects, and nothing that comes later."""

    def fails(*given: object) -> None:
        raise RuntimeError("unexpected")

    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            with monkeypatch.context() as patched:
                patched.setattr("haproxy_native.history.entries.record", fails)
                await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            with monkeypatch.context() as patched:
                patched.setattr("haproxy_native.commit.change.effects", fails)
                await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
                await history.settled()
            await engine.write([ByFunction(adding("d"))], Version(3), author=NOBODY)
            await history.settled()
            assert [entry.version for entry in await entries(history)] == [4, 3]
            assert await history.ask(Journal.effects, 2) and caplog.text.count("RuntimeError: unexpected") == 2

    run(work())


def test_queries_do_not_wait_for_the_effects_of_what_comes_later(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            goes_on = True

            async def writing() -> None:
                number = 0
                while goes_on:
                    number += 1
                    await engine.amend([ByFunction(adding(f"b{number}"))], author=NOBODY)

            writer = asyncio.create_task(writing())
            async with asyncio.timeout(60):
                for _ in range(5):
                    await history.settled()
                    assert await entries(history) is not None
            goes_on = False
            await writer

    run(work())


def test_changes_side_by_side_are_entered_in_their_order(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            await asyncio.gather(*(engine.amend([ByFunction(adding(f"b{number}"))], author=NOBODY) for number in range(8)))
            found = await entries(history)
            assert [entry.version for entry in found] == list(range(9, 1, -1))
            for entry in found[:-1]:
                (content,), (former,) = await history.ask(Journal.contents, entry.id), await history.ask(Journal.contents, entry.parent)
                assert content.before == former.after

    run(work())
    assert os.listdir(state(tmp_path))


def test_it_goes_on_after_it_was_closed(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            await history.__aexit__(None, None, None)
            await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
            async with history:
                await engine.write([ByFunction(adding("d"))], Version(3), author=NOBODY)
                assert [entry.version for entry in await entries(history)] == [4, 2]

    run(work())


def test_a_damaged_journal_is_moved_aside(tmp_path: Path) -> None:
    """Clients' changes are refused until then, with what to do, and a new one begins without a restart."""

    async def work() -> None:
        state(tmp_path).mkdir()
        (state(tmp_path) / "state.db").write_bytes(b"no database" * 1000)
        async with recorded(tmp_path) as (engine, history):
            ann = Author("ann", "192.0.2.1", "r-1")
            with pytest.raises(Unusable, match=r"file is not a database; .*move that directory away"):
                await engine.write([ByFunction(adding("b"))], Version(1), author=ann)
            state(tmp_path).rename(tmp_path / "damaged")
            await engine.write([ByFunction(adding("b"))], Version(1), author=ann)
            assert [entry.version for entry in await entries(history)] == [2]

    run(work())


def test_a_journal_that_is_damaged_later(tmp_path: Path) -> None:
    """The refusal is the same as for a journal that was damaged before the start."""

    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            await history.catch_up()
            await damage(engine.database)
            ann = Author("ann", "192.0.2.1", "r-1")
            with pytest.raises(Unrecorded, match=r"file is not a database; .*move that directory away"):
                await engine.write([ByFunction(adding("c"))], Version(2), author=ann)
            assert engine.version() == 2

    run(work())


async def cut_off(history: History, change: Change, intended: Outcome) -> None:
    """As by a kill before the change is ended."""
    begun = await history.begin(change, intended)
    assert begun.id and await history.ask(Journal.open) == [begun.id]


def of_files(directory: Path, *before_and_after: tuple[bytes | None, bytes | None]) -> Outcome:
    contents = [Content(f"map/{number}.map", str(directory / f"{number}.map"), *pair) for number, pair in enumerate(before_and_after)]
    return Outcome(1, contents=contents)


@pytest.mark.parametrize(("holds", "versions"), [(b"old", []), (b"new", [1]), (b"by hand", [1, 1])], ids=["undone", "made", "edited since"])
def test_a_change_of_a_file_that_a_kill_has_cut_off(tmp_path: Path, holds: bytes, versions: list[int]) -> None:
    """It is there with its author, or gone; what others have done since is theirs."""

    async def work() -> None:
        async with recorded(tmp_path) as (_, history):
            await cut_off(history, Change(author=ANN), of_files(tmp_path, (b"old", b"new")))
        (tmp_path / "0.map").write_bytes(holds)
        async with recorded(tmp_path) as (_, history):
            await history.settled()
            found = await entries(history)
            assert [entry.version for entry in found] == versions and await history.ask(Journal.open) == []
            assert [entry.author.name for entry in found] == [OUTSIDE, "ann"][2 - len(versions) :]

    run(work())


@pytest.mark.parametrize("is_written", [False, True])
def test_of_text_and_files_the_text_tells(tmp_path: Path, is_written: bool) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (engine, history):
            before, after = engine.document, Document.parse(b"# _version=2\nglobal\nbackend b\n")
            intended = replace(of_files(tmp_path, (None, b"new")), version=2, texts=Texts(before, after))
            await cut_off(history, Change(author=ANN), intended)
        (tmp_path / "0.map").write_bytes(b"new")
        if is_written:
            (tmp_path / "haproxy.cfg").write_bytes(after.data)
        async with recorded(tmp_path) as (_, history):
            await history.settled()
            authors = [entry.author.name for entry in await entries(history) if entry.kind == CONFIGURATION]
            assert authors == (["ann"] if is_written else []) and await history.ask(Journal.open) == []

    run(work())


def test_a_change_that_was_cut_off_and_whose_key_is_gone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    """It keeps nothing else from being entered."""

    async def work() -> None:
        key = b"-----BEGIN PRIVATE KEY-----\n"
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("b"))], Version(1), author=ANN)
            await cut_off(history, Change(author=ANN), of_files(tmp_path, (None, key)))
            await engine.database.run(lambda state: state.keys.execute("DELETE FROM held"))
        (tmp_path / "haproxy.cfg").write_text((tmp_path / "haproxy.cfg").read_text() + "# by hand\n")
        async with recorded(tmp_path) as (_, history):
            await history.settled()
            assert [entry.author.name for entry in await entries(history)] == [OUTSIDE, "ann"]
            assert await history.ask(Journal.open) == [] and "ending the entry of an interrupted change failed" in caplog.text

    run(work())


def test_a_file_that_cannot_be_read_stops_nothing(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (_, history):
            begun = await history.begin(Change(author=ANN), of_files(tmp_path, (None, b"new")))
            history.end(begun, Outcome(1))
            await history.catch_up()
        (tmp_path / "0.map").mkdir()
        async with recorded(tmp_path) as (engine, history):
            await engine.write([ByFunction(adding("b"))], Version(1), author=ANN)
            await history.settled()
            assert [entry.version for entry in await entries(history)] == [2, 1] and "Cannot read" in caplog.text

    run(work())


def test_a_change_that_is_refused_again_and_again_enters_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Neither does what others have done to its file, more than once."""
    add, is_full = Journal.add, [False]

    def full(journal: Journal, record: object) -> int:
        if is_full[0]:
            raise sqlite3.OperationalError("database or disk is full")
        return add(journal, record)  # type: ignore[arg-type]

    async def work() -> None:
        monkeypatch.setattr(Journal, "add", full)
        async with recorded(tmp_path) as (_, history):
            history.end(await history.begin(Change(author=ANN), of_files(tmp_path, (None, b"new"))), Outcome(1))
            await history.catch_up()
            is_full[0] = True
            for _ in range(4):
                with pytest.raises(Unrecorded):
                    await history.begin(Change(author=ANN), of_files(tmp_path, (b"by hand", b"newer")))
            is_full[0] = False
            await history.catch_up()
            assert [entry.author.name for entry in await entries(history)] == [OUTSIDE, "ann"]

    run(work())


def test_what_has_begun_is_not_what_a_file_holds(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (_, history):
            history.end(await history.begin(Change(author=ANN), of_files(tmp_path, (None, b"new"))), Outcome(1))
            await history.begin(Change(author=ANN), of_files(tmp_path, (b"new", b"newer")))
            content = await history.ask(lambda journal: journal.at(9, str(tmp_path / "0.map")))
            assert content and content.after == b"new"

    run(work())


def test_the_id_of_a_change_that_has_failed_is_not_used_again(tmp_path: Path) -> None:
    async def work() -> None:
        async with recorded(tmp_path) as (_, history):
            failed = await history.begin(Change(author=ANN), of_files(tmp_path, (None, b"new")))
            await history.abandon(failed)
            assert (await history.begin(Change(author=ANN), of_files(tmp_path, (None, b"new")))).id != failed.id

    run(work())


def test_a_change_under_way_when_the_history_leaves_is_ended(tmp_path: Path) -> None:
    async def work() -> None:
        goes_on = asyncio.Event()

        async with recorded(tmp_path) as (engine, history):

            async def store(data: bytes | None) -> None:
                await goes_on.wait()

            content = Content("test/a", "test/a", None, b"x")
            change = asyncio.create_task(commit(engine.context, Change([beside(content, store)], author=ANN)))
            while not engine.context.works or not await history.ask(Journal.open):
                await asyncio.sleep(0.001)
            leaving = asyncio.create_task(history.__aexit__(None, None, None))
            await asyncio.sleep(0)
            goes_on.set()
            await leaving
            assert (await change).entry == 1
            assert [entry.outcome for entry in await entries(history)] == ["live"]

    run(work())
