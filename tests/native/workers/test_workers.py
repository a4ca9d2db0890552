"""Which processes there are and what each does, beside a real HAProxy that keeps former workers alive."""

import asyncio
import os
import signal
import socket
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.errors import RuntimeAbsent
from haproxy_native.reload.records import SUCCEEDED, ReloadRecord
from haproxy_native.request_context import NOBODY
from haproxy_native.workers.workers import FRONTENDS, NO_MASTER, SERVERS, Workers, column_of, loaded_version
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, ByFunction, reload, run, running_engine, substituting


@pytest.fixture(params=["2.6", pytest.param("3.2", marks=pytest.mark.soak), "3.4"])
def each_haproxy(request: pytest.FixtureRequest, tmp_path: Path):
    port = free_port()
    with HAProxy(tmp_path, CONFIG % port, binary=binaries.exactly(request.param)) as haproxy:
        yield haproxy, port


def test_the_current_and_the_former(each_haproxy, tmp_path: Path) -> None:
    haproxy, port = each_haproxy

    async def story() -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            workers = Workers(engine)
            await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)
            with socket.create_connection(("127.0.0.1", port)) as one, socket.create_connection(("127.0.0.1", port)) as two:
                # Half a request keeps its session, and so the process.
                for connection in (one, two):
                    connection.sendall(b"GET / HTTP/1.1\r\n")
                    await asyncio.sleep(0.05)
                before = haproxy.worker_pid()
                first = await reload(engine)
                assert first.status == SUCCEEDED
                await engine.write([ByFunction(substituting("usual one", "only one"))], Version(2), author=NOBODY)
                second = await reload(engine)
                now, *others = await workers.all()
                former = next(each for each in others if each.pid == before)
                assert (now.current, now.pid, now.version) == (True, haproxy.worker_pid(), 3)
                assert now.pid == second.pid_after and not now.sessions
                assert (former.current, former.pid, former.sessions) == (False, before, {"web": 2})
                assert former.connections >= 2 and former.started <= now.started
                assert former.memory and now.memory and former.memory > 1 << 20
                assert before in await workers.former()
                counted = await workers.counts(SERVERS, "weight")
                assert {each["app/s1"] for each in counted.by_process.values()} == {20}
            assert not workers.note
            await _until_gone(workers, before)
            with pytest.raises(RuntimeAbsent):
                await workers.process(before)

    run(story())


def test_a_former_worker_that_hangs_is_not_waited_for(tmp_path: Path) -> None:
    async def story(haproxy: HAProxy, port: int) -> None:
        async with running_engine(tmp_path, haproxy) as engine:
            with socket.create_connection(("127.0.0.1", port)) as held:
                held.sendall(b"GET / HTTP/1.1\r\n")
                await asyncio.sleep(0.05)
                before = haproxy.worker_pid()
                await reload(engine)
                os.kill(before, signal.SIGSTOP)
                try:
                    (only,) = await Workers(engine).statistics(FRONTENDS)
                    assert not only.startswith(f"{before}@")
                finally:
                    os.kill(before, signal.SIGCONT)

    with HAProxy(tmp_path, CONFIG % (port := free_port()), binary=binaries.exactly("3.4")) as haproxy:
        run(story(haproxy, port))


async def _until_gone(workers: Workers, pid: int) -> None:
    async with asyncio.timeout(60):
        while pid in await workers.former():
            await asyncio.sleep(0.02)


def test_without_a_master(tmp_path: Path) -> None:
    with HAProxy(tmp_path, CONFIG % free_port(), master=False) as haproxy:

        async def story() -> None:
            async with running_engine(tmp_path) as engine:
                engine.runtime.use(None, [str(haproxy.stats)])
                workers = Workers(engine)
                (only,) = await workers.all()
                assert only.current and only.pid == haproxy.worker_pid() and workers.note == NO_MASTER
                with pytest.raises(RuntimeAbsent):
                    await workers.process(only.pid)

        run(story())


def test_the_version_that_a_reload_gave() -> None:
    records = [
        ReloadRecord("2026-01-01-1", 100.0, SUCCEEDED, version=4, started=100.0, ended=102.0, pid_after=7),
        ReloadRecord("2026-01-01-2", 500.0, SUCCEEDED, version=5, started=500.0, ended=502.0, pid_after=7),
        ReloadRecord("2026-01-01-3", 600.0, "failed", version=6, started=600.0, ended=602.0, pid_after=8),
    ]
    assert loaded_version(records, 7, 100.4) == 4
    assert loaded_version(records, 7, 500.4) == 5
    assert loaded_version(records, 7, 5000.0) is None, "another process with the same pid"
    assert loaded_version(records, 8, 600.4) is None and loaded_version(records, 9, 600.4) is None


def test_a_column_of_statistics() -> None:
    text = "# pxname,svname,scur,\nweb,FRONTEND,3,\napp,s1,,\napp,s2,1,\napp,BACKEND,4,\n"
    assert column_of(text, "scur") == {"web": 3, "app/s2": 1, "app": 4}
