"""What is refused before anything ends; the end itself is in tests/acceptance/test_worker_ending.py."""

from pathlib import Path

import pytest

from haproxy_native.disk.database import Database
from haproxy_native.errors import NotFound
from haproxy_native.operations.operations import Operations
from haproxy_native.request_context import NOBODY
from haproxy_native.workers.ending import END_WORKER, NotEndable, WorkerEnding
from haproxy_native.workers.workers import Workers
from tests.haproxy.process import HAProxy
from tests.native.engines import run, running_engine


def test_refused(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            ending = WorkerEnding(Workers(engine))
            async with Operations(Database(tmp_path / "operations"), {END_WORKER: ending.work}) as operations:
                with pytest.raises(NotEndable, match="in service"):
                    await ending.begin(operations, haproxy.worker_pid(), None, None, author=NOBODY)
                with pytest.raises(NotFound, match="former ones are none"):
                    await ending.begin(operations, 1, None, None, author=NOBODY)
                engine.runtime.use(None, [str(haproxy.stats)])
                with pytest.raises(NotEndable, match="master_runtime"):
                    await ending.begin(operations, 1, None, None, author=NOBODY)
                assert operations.all() == []

    run(story())


def test_one_that_has_ended_meanwhile(haproxy: HAProxy, tmp_path: Path) -> None:
    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            works = {END_WORKER: WorkerEnding(Workers(engine)).work}
            async with Operations(Database(tmp_path / "operations"), works) as operations:
                begun = operations.begin(END_WORKER, pid=1, started=5.0, sessions_below=None, after=None, author=NOBODY)
                ended = await operations.wait_until_ended(begun.id, 10)
                assert (ended.status, ended.progress) == ("succeeded", {"sessions": 0, "connections": 0})

    run(story())
