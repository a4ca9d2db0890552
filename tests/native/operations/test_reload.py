"""A reload by itself: it cannot be cancelled once it has begun, and is awaited, not repeated, after a restart."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.errors import NotCancellable
from haproxy_native.operations.operations import FAILED, RELOAD, RUNNING, SUCCEEDED, Operations, reload_work
from haproxy_native.request_context import NOBODY
from tests.haproxy.process import HAProxy
from tests.native.engines import running_engine
from tests.native.operations.asynchronous import finished


@finished
async def test_it_ends_with_another_worker(tmp_path: Path, haproxy: HAProxy) -> None:
    before = haproxy.worker_pid()
    async with (
        running_engine(tmp_path, haproxy) as engine,
        Operations(Database(tmp_path / "operations"), {RELOAD: reload_work(engine.reloads)}) as operations,
    ):
        identity = operations.begin(RELOAD, author=NOBODY).id
        await asyncio.sleep(0)
        with pytest.raises(NotCancellable):
            await operations.cancel(identity)
        ended = await operations.wait_until_ended(identity, 30)
        assert (ended.status, ended.error) == (SUCCEEDED, "")
        assert engine.reloads.records.get(ended.progress["reload_id"]).pid_before == before
    assert haproxy.worker_pid() != before


@finished
async def test_after_a_restart_it_is_awaited(tmp_path: Path, haproxy: HAProxy) -> None:
    directory = tmp_path / "operations"
    async with running_engine(tmp_path, haproxy) as engine:
        async with Operations(Database(directory), {RELOAD: reload_work(engine.reloads)}) as operations:
            identity = operations.begin(RELOAD, author=NOBODY).id
            await asyncio.sleep(0)
            begun = operations.get(identity)
            assert (begun.status, list(begun.progress)) == (RUNNING, ["reload_id"])
        async with Operations(Database(directory), {RELOAD: reload_work(engine.reloads)}) as operations:
            assert (await operations.wait_until_ended(identity, 30)).status == SUCCEEDED
        assert len({record["id"] for record in engine.reloads.records.api_list()}) == 1


@finished
async def test_one_that_is_refused(tmp_path: Path, haproxy: HAProxy) -> None:
    async with (
        running_engine(tmp_path, haproxy) as engine,
        Operations(Database(tmp_path / "operations"), {RELOAD: reload_work(engine.reloads)}) as operations,
    ):
        haproxy.file.write_text("nonsense here\n")
        ended = await operations.wait_until_ended(operations.begin(RELOAD, author=NOBODY).id, 30)
        assert ended.status == FAILED
        assert ended.error.startswith("Reload failed: ")
