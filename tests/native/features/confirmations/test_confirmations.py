import asyncio
import sqlite3
import threading
from collections.abc import Collection
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from haproxy_native.access.rights import AccessRule, Rights
from haproxy_native.commit.change import Outcome
from haproxy_native.engine import Engine
from haproxy_native.errors import BadRequest, Forbidden, NotPending, ReloadFailed, Unconfirmed, Unrecorded, Unusable, WriteFailed
from haproxy_native.features.confirmations import confirmations as confirmations_module
from haproxy_native.features.confirmations import ledger
from haproxy_native.features.confirmations.confirmations import POLL_SECONDS, TRIES, Confirmations
from haproxy_native.features.confirmations.guard import INCONCLUSIVE, Guard, GuardWatch
from haproxy_native.features.confirmations.ledger import CONFIRMED, FAILED, OPEN, PENDING, ROLLED_BACK, VOID, Confirmation
from haproxy_native.history.entries import Record
from haproxy_native.history.journal import Journal
from haproxy_native.history.reverting import Reverted, Reverter
from haproxy_native.request_context import Author
from haproxy_native.text.document import Document
from tests.databases import damage, stored
from tests.native.engines import ByFunction, adding, run, substituting
from tests.native.history.test_reverting import put, returning

# Seconds: more than passes between two calls on a loaded machine.
SOON = 10
ANN, BOB = Author("ann", request_id="r-1", group="users"), Author("bob", request_id="r-2", group="users")


@asynccontextmanager
async def confirming(directory: Path, watch: GuardWatch | None = None):
    async with returning(directory) as (engine, history, back):
        reported: list[Confirmation] = []
        async with Confirmations(engine.context, history, back, engine.database, reported.append, watch) as confirmations:
            yield engine, confirmations, reported


def cut_off(*given: object) -> None:
    """As by a kill before the entry of a change that was made has ended."""


async def over(confirmations: Confirmations, id_: str) -> Confirmation:
    async with asyncio.timeout(60):
        while not confirmations.get(id_).is_over:
            await asyncio.sleep(0.02)
    return confirmations.get(id_)


def text(engine: Engine) -> str:
    return engine.document.text


def test_without_a_word_everything_goes_back(tmp_path: Path) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, reported):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
                await put(engine, "a.http", b"one\n", made)
            assert confirmations.get(made.confirmation).status == PENDING and await confirmations.entries(made.confirmation) == [2, 1]
            await confirmations.extend(made.confirmation, 0, ANN)
            assert (await over(confirmations, made.confirmation)).status == ROLLED_BACK
            assert "backend b" not in text(engine) and not (tmp_path / "general" / "a.http").exists()
            assert [each.status for each in reported] == [PENDING, PENDING, ROLLED_BACK]

    run(work())


def test_what_is_confirmed_stays(tmp_path: Path) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            await confirmations.extend(made.confirmation, SOON, ANN)
            assert (await confirmations.confirm(made.confirmation, ANN)).status == CONFIRMED
            await asyncio.sleep(SOON + 2 * POLL_SECONDS)
            assert "backend b" in text(engine) and confirmations.get(made.confirmation).status == CONFIRMED
            for call in (confirmations.confirm(made.confirmation, ANN), confirmations.roll_back(made.confirmation, ANN)):
                with pytest.raises(NotPending, match="confirmation 1 is confirmed"):
                    await call
            with pytest.raises(NotPending):
                await confirmations.extend(made.confirmation, 5, ANN)

    run(work())


def test_at_once_and_later(tmp_path: Path) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            await confirmations.extend(made.confirmation, SOON, ANN)
            await confirmations.extend(made.confirmation, 60, ANN)
            await asyncio.sleep(SOON + 2 * POLL_SECONDS)
            assert "backend b" in text(engine)
            assert (await confirmations.roll_back(made.confirmation, ANN)).status == ROLLED_BACK and "backend b" not in text(engine)

    run(work())


def test_others_wait(tmp_path: Path) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            for change in (engine.amend([ByFunction(adding("c"))], author=BOB), put(engine, "c.http", b"c\n", BOB)):
                with pytest.raises(Unconfirmed) as raised:
                    await change
                assert (raised.value.confirmation, raised.value.author) == ("1", "ann") and 50 < raised.value.seconds_left <= 60
            with pytest.raises(Unconfirmed):
                async with confirmations.open_confirmation(BOB, 5):
                    raise AssertionError
            await engine.amend([ByFunction(adding("discovered"))], author=Author("consul"))
            await confirmations.roll_back(made.confirmation, ANN)
            assert "backend b" not in text(engine) and "discovered" in text(engine)
            await engine.amend([ByFunction(adding("c"))], author=ANN)

    run(work())


def test_a_hand_edit_stays(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("backend b\n  server a 127.0.0.1:1 weight 1\n")
        async with confirming(tmp_path) as (engine, confirmations, _):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(substituting("weight 1", "weight 2"))], author=made)
            path = tmp_path / "haproxy.cfg"
            path.write_text(path.read_text() + "# by hand\n")
            await engine.notice()
            assert (await confirmations.roll_back(made.confirmation, ANN)).status == ROLLED_BACK
            assert "weight 1" in text(engine) and text(engine).endswith("# by hand\n")

    run(work())


def test_a_collision_overwrites_nothing(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("backend b\n  server a 127.0.0.1:1 weight 1\n")
        async with confirming(tmp_path) as (engine, confirmations, reported):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(substituting("weight 1", "weight 2"))], author=made)
            path = tmp_path / "haproxy.cfg"
            path.write_text(path.read_text().replace("weight 2", "weight 3"))
            await engine.notice()
            ended = await confirmations.roll_back(made.confirmation, ANN)
            assert ended.status == FAILED and "weight of backend/b/server/a is 3 by now, not 2" in ended.error
            assert "weight 3" in text(engine) and reported[-1] == ended

    run(work())


def test_a_change_that_fails_leaves_nothing_to_confirm(tmp_path: Path) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):

            async def fail() -> None:
                async with confirmations.open_confirmation(ANN, 60) as made:
                    await engine.amend([ByFunction(adding("b"))], author=made)
                    raise BadRequest("then it fails")

            with pytest.raises(BadRequest):
                await fail()
            assert confirmations.get("1").status == VOID and "backend b" not in text(engine)
            async with confirmations.open_confirmation(ANN, 60) as made:
                pass
            assert confirmations.get(made.confirmation).status == VOID
            await engine.amend([ByFunction(adding("c"))], author=ANN)

    run(work())


def test_without_the_history_no_confirmation_begins(tmp_path: Path) -> None:
    """Nothing was changed, so no confirmation is pending, and other clients are not refused."""

    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, reported):
            await confirmations._history.catch_up()
            await damage(engine.database)
            with pytest.raises(Unrecorded, match="move that directory away"):
                async with confirmations.open_confirmation(ANN, 60) as made:
                    await engine.amend([ByFunction(adding("b"))], author=made)
            assert not confirmations.all() and not reported and "backend b" not in text(engine)

    run(work())


def test_over_a_restart(tmp_path: Path) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            assert "backend b" in text(engine)
            await confirmations.extend(made.confirmation, SOON, ANN)
        async with confirming(tmp_path) as (engine, confirmations, _):
            assert (await over(confirmations, made.confirmation)).status == ROLLED_BACK and "backend b" not in text(engine)

    run(work())


def test_a_kill_before_the_outcome_is_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            await engine.amend([ByFunction(adding("a"))], author=ANN)
            await confirmations._ledger.add(lambda id_: Confirmation(id_, "ann", 0.0, 0.5))
            monkeypatch.setattr(confirmations._history, "_close", cut_off)
            await engine.amend([ByFunction(adding("b"))], author=replace(ANN, confirmation="1"))
        async with confirming(tmp_path) as (engine, confirmations, _):
            assert confirmations.get("1").status == PENDING != OPEN
            assert (await over(confirmations, "1")).status == ROLLED_BACK
            assert "backend a" in text(engine) and "backend b" not in text(engine)

    run(work())


def test_a_disk_that_is_full_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            current, failures = engine.context.current, [WriteFailed("no space left")]
            prepare = current.prepare

            def full(*given: object) -> object:
                if failures:
                    raise failures.pop()
                return prepare(*given)

            monkeypatch.setattr(current, "prepare", full)
            with pytest.raises(WriteFailed):
                await confirmations.roll_back(made.confirmation, ANN)
            waiting = confirmations.get(made.confirmation)
            assert waiting.status == PENDING and waiting.error.endswith("tried again every second: invalid change: no space left")
            ended = await over(confirmations, made.confirmation)
            assert (ended.status, ended.error) == (ROLLED_BACK, "") and "backend b" not in text(engine)

    run(work())


def test_a_start_on_a_disk_that_takes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (_, confirmations, _):
            await confirmations._ledger.add(lambda id_: Confirmation(id_, "ann", 0.0, 0.5))
        kept = stored(tmp_path / "storage/state", "confirmation")
        monkeypatch.setattr(ledger, "_store", full)
        async with confirming(tmp_path) as (_, confirmations, _):
            with pytest.raises(Unusable, match="disk is full"):
                await confirmations.confirm("1", ANN)
            assert confirmations.get("1").status == PENDING
            assert (await over(confirmations, "1")).status == ROLLED_BACK
        assert stored(tmp_path / "storage/state", "confirmation") == kept

    def full(*given: object) -> None:
        raise sqlite3.OperationalError("database or disk is full")

    run(work())


def test_what_is_made_again_is_taken_back_a_few_times(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """After the last try, confirmation and log name the entries still in effect, and what to do. All other changes are rolled back."""

    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, reported):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
                await engine.amend([ByFunction(adding("c"))], author=made)
            roll_back, tries = Reverter.roll_back, list[int]()

            async def again(back: Reverter, id_: int, author: Author) -> Reverted:
                if id_ == 1:
                    tries.append(id_)
                    return Reverted([Outcome(0)])
                return await roll_back(back, id_, author)

            monkeypatch.setattr(Reverter, "roll_back", again)
            ended = await confirmations.roll_back(made.confirmation, ANN)
            assert (ended.status, ended.standing, len(tries)) == (FAILED, [1], TRIES) and reported[-1] == ended
            assert "entry 1 of the history is still in effect: it was reverted, and is in effect again (3 tries)" in ended.error
            assert ended.error.endswith("remove the cause and revert them then") and ended.error in caplog.text
            assert "backend c" not in text(engine)

    run(work())


def test_a_reload_that_fails_is_tried_a_few_times(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            async with confirmations.open_confirmation(ANN, 60) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            tries = list[int]()

            async def fail(back: Reverter, id_: int, author: Author) -> Reverted:
                tries.append(id_)
                raise ReloadFailed("Reload failed: no")

            monkeypatch.setattr(Reverter, "roll_back", fail)
            monkeypatch.setattr("haproxy_native.features.confirmations.confirmations.RETRY_SECONDS", 0)
            ended = await confirmations.roll_back(made.confirmation, ANN)
            assert (ended.status, len(tries)) == (FAILED, TRIES) and "Reload failed: no" in ended.error

    run(work())


def test_nothing_ends_the_watch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    monkeypatch.setattr("haproxy_native.features.confirmations.confirmations.RETRY_SECONDS", 0.05)

    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            failures, roll_back = [Unusable("no history"), RuntimeError("a mistake of ours")], Reverter.roll_back

            async def fail(back: Reverter, id_: int, author: Author) -> Reverted:
                if failures:
                    raise failures.pop()
                return await roll_back(back, id_, author)

            monkeypatch.setattr(Reverter, "roll_back", fail)
            async with confirmations.open_confirmation(ANN, 0.5) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            assert (await over(confirmations, made.confirmation)).status == ROLLED_BACK and "backend b" not in text(engine)
            assert "a mistake of ours" in caplog.text and "no history; it is tried again every second" in caplog.text

    run(work())


def test_a_history_that_takes_nothing_for_a_while(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A change whose entry the history refuses is not made, so there is nothing to confirm."""
    add, is_full = Journal.add, [True]

    def full(journal: Journal, record: Record) -> int:
        if is_full:
            raise sqlite3.OperationalError("database or disk is full")
        return add(journal, record)

    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            monkeypatch.setattr(Journal, "add", full)
            with pytest.raises(Unrecorded, match="disk is full"):
                async with confirmations.open_confirmation(ANN, 60) as made:
                    await engine.amend([ByFunction(adding("b"))], author=made)
            assert confirmations.get(made.confirmation).status == VOID and "backend b" not in text(engine)
            is_full.clear()
            async with confirmations.open_confirmation(ANN, 0) as made:
                await engine.amend([ByFunction(adding("c"))], author=made)
            assert (await over(confirmations, made.confirmation)).status == ROLLED_BACK and "backend c" not in text(engine)

    run(work())


@pytest.mark.parametrize("is_known", [False, True])
def test_a_file_whose_change_was_cut_off_before_it_was_entered(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, is_known: bool) -> None:
    (tmp_path / "general").mkdir()
    file = tmp_path / "general" / "a.http"
    file.write_bytes(b"old\n")

    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            if is_known:
                await put(engine, "a.http", b"older\n", ANN)
                await put(engine, "a.http", b"old\n", ANN)
            await confirmations._ledger.add(lambda id_: Confirmation(id_, "ann", 0.0, 0.5))
            monkeypatch.setattr(confirmations._history, "_close", cut_off)
            await put(engine, "a.http", b"new\n", replace(ANN, confirmation="1"))
        async with confirming(tmp_path) as (engine, confirmations, _):
            assert (await over(confirmations, "1")).status == ROLLED_BACK and file.read_bytes() == b"old\n"

    run(work())


def test_who_may_confirm_it(tmp_path: Path) -> None:
    """The author may confirm, and others with a permission. A certificate or token with the author's name is another caller."""
    none, rule = Rights(("none",)), Rights(("some",), (AccessRule("confirmation/*", frozenset(("change",))),))

    async def work() -> None:
        async with confirming(tmp_path) as (engine, confirmations, _):
            others = [replace(ANN, rights=none, group=group) for group in ("certificates", "claims", "tokens", "")]
            callers = [*((other, False) for other in [*others, replace(BOB, rights=none)]), (replace(BOB, rights=rule), True)]
            for by, may in (*callers, (replace(ANN, rights=none), True)):
                async with confirmations.open_confirmation(ANN, 60) as made:
                    await engine.amend([ByFunction(adding(f"b{confirmations.all()[0].id}"))], author=made)
                if may:
                    assert (await confirmations.confirm(made.confirmation, by)).status == CONFIRMED
                    continue
                for call in (confirmations.confirm, confirmations.roll_back):
                    with pytest.raises(Forbidden, match=f"may not change confirmation/{made.confirmation}"):
                        await call(made.confirmation, by)
                await confirmations.roll_back(made.confirmation, ANN)

    run(work())


async def statistics() -> tuple[str, str]:
    return "1@1", "# pxname,svname,stot,act,bck,hrsp_5xx,req_tot,\nb,BACKEND,7,1,1,0,7,\n"


def test_a_thread_finds_what_a_guard_compares(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    finders, sections = [], confirmations_module.affected_sections

    def found(document: Document, objects: Collection[str]) -> frozenset[str]:
        finders.append(threading.get_ident())
        return sections(document, objects)

    monkeypatch.setattr(confirmations_module, "affected_sections", found)

    async def work() -> None:
        async with confirming(tmp_path, GuardWatch(statistics)) as (engine, confirmations, _):
            async with confirmations.open_confirmation(ANN, 60, Guard(ready=True)) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            start = confirmations.get(made.confirmation).baseline
            assert start and (start["sections"], start["ready"]) == (["b"], {"b": 2})
            assert len(finders) == 1 and threading.get_ident() not in finders

    run(work())


def test_a_verdict_without_a_baseline_says_why(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fails(journal: Journal, entry: int) -> list[str]:
        raise sqlite3.OperationalError("disk I/O error")

    async def work() -> None:
        async with confirming(tmp_path, GuardWatch(statistics)) as (engine, confirmations, _):
            monkeypatch.setattr(Journal, "objects", fails)
            async with confirmations.open_confirmation(ANN, 60, Guard(ready=True)) as made:
                await engine.amend([ByFunction(adding("b"))], author=made)
            async with asyncio.timeout(60):
                while (verdict := confirmations.get(made.confirmation).verdict) is None:
                    await asyncio.sleep(0.02)
            reason = verdict["reasons"][0]
            assert verdict["result"] == INCONCLUSIVE and "is unknown: the database" in reason and "disk I/O error" in reason

    run(work())
