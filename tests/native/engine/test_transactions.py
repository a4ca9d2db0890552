"""Transactions from start to commit, alone, in parallel and overtaken."""

import asyncio
import os
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.check.check import CheckSettings
from haproxy_native.errors import (
    BadRequest,
    Conflict,
    NotCommittable,
    NoTransaction,
    Refused,
    TooManyTransactions,
)
from haproxy_native.request_context import NOBODY
from tests.haproxy.process import HAProxy
from tests.native.engines import ByFunction, adding, reload, run, running_engine, substituting, weight


class TestTransactions:
    def test_a_commit(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                one, other = engine.start_transaction(1, author=NOBODY), engine.start_transaction(1, author=NOBODY)
                inside = await engine.write([ByFunction(adding("b"))], transaction_id=one.id, author=NOBODY)
                assert (inside.version, inside.reload_id) == (1, None)
                await engine.write([ByFunction(substituting("weight 10", "weight 20"))], transaction_id=one.id, author=NOBODY)
                assert engine.read(one.id).find("backend", "b")
                assert engine.read(other.id).find("backend", "b") is None
                assert engine.read().find("backend", "b") is None
                done, outcome = await engine.commit_transaction(one.id, author=NOBODY)
                assert done.as_dict() == {"_version": 1, "id": one.id, "status": "success"}
                assert (outcome.version, outcome.reload_id is not None) == (2, True)
                assert engine.transaction(other.id, author=NOBODY).status == "outdated"
                with pytest.raises(NotCommittable, match=f"^transaction {other.id} is outdated and cannot be committed$"):
                    await engine.commit_transaction(other.id, author=NOBODY)
                with pytest.raises(NoTransaction, match=f"transaction {one.id} does not exist"):
                    await engine.commit_transaction(one.id, author=NOBODY)
                assert engine.version(one.id) == engine.version(other.id) == 0
                assert os.listdir(haproxy.directory / "transactions") == []

        run(work())

    def test_a_live_commit(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                one = engine.start_transaction(1, author=NOBODY)
                await engine.write([ByFunction(substituting("weight 10", "weight 20"))], transaction_id=one.id, author=NOBODY)
                _, outcome = await engine.commit_transaction(one.id, author=NOBODY)
                assert (outcome.live, outcome.reload_id, weight(haproxy)) == (True, None, "20")

        run(work())

    @pytest.mark.parametrize("force", [False, True])
    def test_an_empty_commit_reloads(self, haproxy: HAProxy, force: bool) -> None:
        async def work() -> None:
            pid = haproxy.worker_pid()
            async with running_engine(haproxy.directory, haproxy) as engine:
                _, outcome = await engine.commit_transaction(
                    engine.start_transaction(1, author=NOBODY).id, force_reload=force, author=NOBODY
                )
                assert (outcome.version, outcome.forced, outcome.reload_id is None) == (2, force, force)
                assert force or (await reload(engine)).status == "succeeded"
                assert haproxy.worker_pid() != pid

        run(work())

    def test_one_that_another_writer_overtook(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                one = engine.start_transaction(1, author=NOBODY)
                await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
                assert engine.transaction(one.id, author=NOBODY).status == "in_progress"
                with pytest.raises(Conflict) as caught:
                    await engine.commit_transaction(one.id, author=NOBODY)
                assert str(caught.value) == "version mismatch: version mismatch, transaction version: 1, configured version: 2"
                with pytest.raises(NotCommittable, match="is outdated and cannot be committed"):
                    await engine.commit_transaction(one.id, author=NOBODY)
                engine.delete_transaction(one.id, author=NOBODY)
                assert engine.transactions(author=NOBODY) == []

        run(work())

    def test_one_that_haproxy_refuses(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                one = engine.start_transaction(1, author=NOBODY)
                await engine.write(
                    [ByFunction(substituting("default_backend app", "default_backend none"))], transaction_id=one.id, author=NOBODY
                )
                with pytest.raises(Refused, match=f"err transactionId={one.id} \n"):
                    await engine.commit_transaction(one.id, author=NOBODY)
                with pytest.raises(NotCommittable, match=f"^transaction {one.id} is failed and cannot be committed$"):
                    await engine.commit_transaction(one.id, author=NOBODY)
                assert engine.version() == 1
                assert b"default_backend none" in engine.raw(transaction_id=one.id)

        run(work())

    def test_many_parallel_changes(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                one = engine.start_transaction(1, author=NOBODY)
                await asyncio.gather(
                    *(engine.write([ByFunction(adding(f"b{i}"))], transaction_id=one.id, author=NOBODY) for i in range(100))
                )
                await engine.commit_transaction(one.id, author=NOBODY)
                assert sorted(name for name, _ in engine.document.of_kind("backend")) == sorted(f"b{i}" for i in range(100))

        run(work())

    def test_a_change_during_the_commit_is_not_lost_in_silence(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            os.mkfifo(tmp_path / "gate")
            gate = CheckSettings(command=f"sh -c 'read x < {tmp_path}/gate'")
            async with running_engine(tmp_path, check=gate) as engine:
                one = engine.start_transaction(1, author=NOBODY)
                committing = asyncio.create_task(engine.commit_transaction(one.id, author=NOBODY))
                with await asyncio.to_thread((tmp_path / "gate").open, "w") as opened:
                    with pytest.raises(NoTransaction):
                        await engine.write([ByFunction(adding("late"))], transaction_id=one.id, author=NOBODY)
                    with pytest.raises(NoTransaction):
                        await engine.commit_transaction(one.id, author=NOBODY)
                    opened.write("go\n")
                await committing
                assert engine.version() == 2

        run(work())

    def test_start(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path, max_open_transactions=1) as engine:
                with pytest.raises(BadRequest, match=r"^Query argument version is required, but not found$"):
                    engine.start_transaction(None, author=NOBODY)
                with pytest.raises(Conflict, match="version in configuration file is 1, given version is 9"):
                    engine.start_transaction(9, author=NOBODY)
                engine.start_transaction(1, author=NOBODY)
                with pytest.raises(TooManyTransactions):
                    engine.start_transaction(77, author=NOBODY)

        run(work())

    def test_they_survive_a_restart(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                one = engine.start_transaction(1, author=NOBODY)
                await engine.write([ByFunction(adding("kept"))], transaction_id=one.id, author=NOBODY)
            async with running_engine(tmp_path) as engine:
                await engine.write([ByFunction(adding("later"))], transaction_id=one.id, author=NOBODY)
                await engine.commit_transaction(one.id, author=NOBODY)
                assert [name for name, _ in engine.document.of_kind("backend")] == ["kept", "later"]

        run(work())
