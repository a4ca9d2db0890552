"""Nothing is called live that is not, and nothing promised is forgotten, whatever comes in between."""

import asyncio
import errno
import os
from collections.abc import Callable
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit import after_reload, current
from haproxy_native.commit.change import Reload
from haproxy_native.errors import Conflict, NoTransaction, WriteFailed
from haproxy_native.request_context import NOBODY
from tests.haproxy.process import HAProxy
from tests.native.disk.failing import FailingSystem, fail_with
from tests.native.engines import ByFunction, adding, body, push, reload, run, running_engine, substituting, weight


def test_an_edit_by_hand_that_a_reload_loads(haproxy: HAProxy) -> None:
    """HAProxy has loaded what nobody here had read."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            haproxy.file.write_text(haproxy.file.read_text().replace("weight 10", "weight 20"))
            assert (await reload(engine)).status == "succeeded"
            assert weight(haproxy) == "20"
            assert (await engine.write([ByFunction(substituting("weight 20", "weight 10"))], Version(2), author=NOBODY)).live
            assert weight(haproxy) == "10"

    run(work())


def test_an_edit_by_hand_while_haproxy_reads(haproxy: HAProxy) -> None:
    """Which of the two it has read is unknown."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            async with engine.loading():
                haproxy.file.write_text(haproxy.file.read_text().replace("weight 10", "weight 20"))
                await after_reload.handle_success(engine.context)
            outcome = await engine.write([ByFunction(substituting("weight 20", "weight 30"))], Version(2), author=NOBODY)
            assert outcome.reload_id
            assert "while HAProxy read it" in outcome.reasons[0].why

    run(work())


def test_an_edit_in_the_last_moment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        file = tmp_path / "haproxy.cfg"
        file.write_text("global\n")
        async with running_engine(tmp_path) as engine:
            monkeypatch.setattr(engine.context.running, "save_last_good", lambda: file.write_text("global\nbackend by-hand\n"))
            with pytest.raises(Conflict, match="is 2, given version is 1"):
                await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            monkeypatch.undo()
            assert file.read_text() == "global\nbackend by-hand\n"
            assert (await engine.write([ByFunction(adding("b"))], Version(2), author=NOBODY)).version == 3
            assert engine.document.find("backend", "by-hand")

    run(work())


class Undated:
    """`os` on a file system that lets nobody date a file."""

    def __getattr__(self, name: str) -> object:
        return getattr(os, name)

    def utime(self, *_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "not permitted")


class Stopped:
    """A clock at which every write has just been made."""

    def time_ns(self) -> int:
        return 0


def test_an_edit_within_one_tick_of_the_clock(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of the same length, it looks as our own write did, where that could not be given a time of its own."""

    async def work() -> None:
        file = tmp_path / "haproxy.cfg"
        file.write_text("global\n")
        async with running_engine(tmp_path) as engine:
            engine.context.current.file.system = Undated()
            monkeypatch.setattr(current, "time", Stopped())
            await engine.write([ByFunction(adding("ours"))], Version(1), author=NOBODY)
            looks = engine.context.current.file.read_stamp()
            monkeypatch.setattr(engine.context.current.file, "read_stamp", lambda: looks)
            file.write_text(file.read_text().replace("ours", "hand"))
            assert await engine.notice()
            assert engine.document.find("backend", "hand")

    run(work())


def test_a_file_goes_back_though_proxies_are_bound_anew(tmp_path: Path) -> None:
    async def work() -> None:
        text = "defaults base\n  mode http\nbackend free\n"
        (tmp_path / "haproxy.cfg").write_text(text)
        async with running_engine(tmp_path) as engine:
            moved = text.replace("backend free\n", "defaults other\nbackend free\n").encode()
            await push(engine, moved, version=1)
            async with engine.loading():
                assert (await after_reload.handle_failure(engine.context, engine.reloads.records.issue())).restored_version == 3
            assert body(tmp_path / "haproxy.cfg") == text

    run(work())


def test_a_planner_that_fails_leads_to_a_reload(haproxy: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            monkeypatch.setattr("haproxy_native.planning.plan.plan", lambda *_, **__: 1 // 0)
            outcome = await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)
            assert outcome.reload_id
            assert (await reload(engine)).status == "succeeded"
            assert weight(haproxy) == "20"

    run(work())


def test_a_quoted_server_changes_live(haproxy: HAProxy) -> None:
    async def work() -> None:
        haproxy.file.write_text(haproxy.file.read_text() + '  server "s2" 127.0.0.1:2 weight 7\n')
        async with running_engine(haproxy.directory, haproxy) as engine:
            assert (await reload(engine)).status == "succeeded"
            assert (await engine.write([ByFunction(substituting("weight 7", "weight 8"))], Version(1), author=NOBODY)).live
            assert haproxy.ask_master("@1 get weight app/s2").split()[0] == "8"
            assert (
                await engine.write([ByFunction(substituting('  server "s2" 127.0.0.1:2 weight 8\n', ""))], Version(2), author=NOBODY)
            ).live
            assert " s2 " not in haproxy.ask("show servers state app")

    run(work())


def test_actions_are_run_as_given(haproxy: HAProxy) -> None:
    """Neither more, where the text says more, nor less; the next change then makes both one."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            text = haproxy.file.read_text().replace("weight 10", "weight 20")
            await push(engine, text.encode(), version=1, reload=Reload.NONE, actions="SetServerWeight app s1 15")
            assert weight(haproxy) == "15"
            assert (await engine.write([ByFunction(substituting("weight 20", "weight 21"))], Version(2), author=NOBODY)).reload_id
            assert (await reload(engine)).status == "succeeded"
            assert weight(haproxy) == "21"

    run(work())


def test_a_transaction_is_not_deleted_while_it_is_committed(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path, check=CheckSettings(command="sleep 0.3")) as engine:
            id_ = engine.start_transaction(1, author=NOBODY).id
            await engine.context.transactions.change(id_, adding("b"), author=NOBODY)
            committing = asyncio.create_task(engine.commit_transaction(id_, author=NOBODY))
            await asyncio.sleep(0)
            with pytest.raises(NoTransaction, match="is being committed"):
                engine.delete_transaction(id_, author=NOBODY)
            assert (await committing)[1].version == 2

    run(work())


def failing_rename() -> FailingSystem:
    class Failing(FailingSystem):
        def _watched(self, name: str, real: Callable[..., object]) -> Callable[..., object]:
            return (lambda *_: fail_with(errno.EIO)(name)) if name == "replace" else real

    return Failing()


def test_a_promise_outlives_a_later_write_that_failed(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            promised = (await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)).reload_id
            engine.context.current.file.system = failing_rename()
            with pytest.raises(WriteFailed):
                await engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY)
        async with running_engine(tmp_path) as engine:
            assert engine.reloads.pending == promised, "the same reload, under its id"
            assert engine.reloads.records.api(promised)["status"] == "in_progress"
            assert (await reload(engine)).status == "succeeded"
            assert engine.reloads.records.api(promised)["status"] == "succeeded"

    run(work())


def test_a_push_without_a_reload_takes_no_promise_back(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            promised = (await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)).reload_id
            await push(engine, b"global\nbackend pushed\n", version=2, reload=Reload.NONE)
        async with running_engine(tmp_path) as engine:
            assert engine.reloads.pending == promised
        other = tmp_path / "other"
        other.mkdir()
        (other / "haproxy.cfg").write_text("global\n")
        async with running_engine(other) as engine:
            await push(engine, b"global\nbackend pushed\n", version=1, reload=Reload.NONE)
        async with running_engine(other) as engine:
            assert engine.reloads.pending is None

    run(work())
