"""What is noticed of a worker that comes and goes."""

import asyncio
import logging
import os
import signal
import time
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.watch import REST_SECONDS, ProcessWatch
from haproxy_native.engine import Engine
from haproxy_native.request_context import NOBODY
from tests.haproxy.process import HAProxy
from tests.native.engines import ByFunction, reload, run_beside, substituting

SECONDS = 60.0


def beside(directory: Path, work: Callable[[Engine, HAProxy, ProcessWatch], Awaitable[None]]) -> None:
    run_beside(directory, lambda engine, haproxy: work(engine, haproxy, ProcessWatch(engine.context)))


async def kept(engine: Engine) -> bytes:
    return bytes(await engine.database.run(lambda state: state.execute("SELECT data FROM last_good").fetchone()[0]))


def renew(haproxy: HAProxy) -> None:
    """HAProxy is reloaded from outside."""
    before, deadline = haproxy.worker_pid(), time.monotonic() + SECONDS
    os.kill(haproxy.pid, signal.SIGUSR2)
    while haproxy.worker_pid() == before:
        assert time.monotonic() < deadline
        time.sleep(0.01)


@pytest.mark.parametrize("after_failure", [True, False])
def test_a_worker_that_comes_late_of_a_failed_reload_is_replaced(tmp_path: Path, after_failure: bool) -> None:
    async def work(engine: Engine, haproxy: HAProxy, watch: ProcessWatch) -> None:
        renew(haproxy)
        # The file is newer than what that worker has read.
        haproxy.file.touch()
        engine.reloads.left_at = time.time() if after_failure else 0.0
        await watch.poll()
        assert engine.running is None
        assert (engine.reloads.pending is not None) is after_failure
        if after_failure:
            worker = haproxy.worker_pid()
            assert (await reload(engine)).status == "succeeded"
            assert engine.running is engine.document
            assert haproxy.worker_pid() != worker
            await watch.poll()
            assert engine.reloads.pending is None

    beside(tmp_path, work)


def test_a_late_worker_that_a_request_meets_first_is_replaced_as_well(tmp_path: Path) -> None:
    async def work(engine: Engine, haproxy: HAProxy, watch: ProcessWatch) -> None:
        await watch.poll()
        renew(haproxy)
        haproxy.file.touch()
        engine.reloads.left_at = time.time()
        await engine.context.observe()
        assert engine.running is None and engine.reloads.pending is None
        await watch.poll()
        assert engine.reloads.pending is not None
        assert (await reload(engine)).status == "succeeded"
        await watch.poll()
        assert engine.reloads.pending is None

    beside(tmp_path, work)


def test_a_worker_that_has_read_the_file_is_taken_over(tmp_path: Path) -> None:
    async def work(engine: Engine, haproxy: HAProxy, watch: ProcessWatch) -> None:
        renew(haproxy)
        await watch.poll()
        assert engine.running is engine.document
        assert engine.context.running.worker.pid == haproxy.worker_pid()
        assert engine.reloads.pending is None

    beside(tmp_path, work)


def test_what_a_failed_reload_goes_back_to_follows_live_changes(tmp_path: Path) -> None:
    async def work(engine: Engine, haproxy: HAProxy, watch: ProcessWatch) -> None:
        assert (await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)).live
        assert await kept(engine) != haproxy.file.read_bytes()
        await watch.poll()
        assert await kept(engine) == haproxy.file.read_bytes() == haproxy.file.with_name("haproxy.cfg.lkg").read_bytes()

    beside(tmp_path, work)


def test_a_new_worker_is_taken_over_between_two_changes_of_the_process(tmp_path: Path) -> None:
    """What it lacks is made in it, which no other change may be amid."""

    async def work(engine: Engine, haproxy: HAProxy, watch: ProcessWatch) -> None:
        former = engine.context.running.worker.pid
        renew(haproxy)
        async with engine.context.process_lock:
            looking = asyncio.create_task(watch.poll())
            await asyncio.wait([looking], timeout=0.3)
            assert engine.context.running.worker.pid == former
        await looking
        assert engine.context.running.worker.pid == haproxy.worker_pid() != former

    beside(tmp_path, work)


def test_a_master_at_rest_spares_most_queries_and_no_reload_is_missed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("haproxy_native.runtime.master.RELOAD_SECONDS", 0.0)
    ticks, polls = 0, 0

    async def tick() -> None:
        nonlocal ticks
        ticks += 1
        await asyncio.sleep(0.01)

    monkeypatch.setattr("haproxy_native.commit.watch.next_second", tick)

    class Counted(ProcessWatch):
        async def poll(self) -> None:
            nonlocal polls
            polls += 1
            await super().poll()

    async def until_ticks(number: int) -> None:
        while ticks < number:
            await asyncio.sleep(0.01)

    async def work(engine: Engine, haproxy: HAProxy, _watch: ProcessWatch) -> None:
        running = asyncio.create_task(Counted(engine.context).run())
        try:
            async with asyncio.timeout(SECONDS):
                await until_ticks(10 * REST_SECONDS)
                assert polls <= ticks // REST_SECONDS + 1
                monkeypatch.setattr("haproxy_native.runtime.master.RELOAD_SECONDS", 3600.0)
                former = engine.context.running.worker.pid
                await asyncio.to_thread(renew, haproxy)
                while engine.context.running.worker.pid == former:
                    await asyncio.sleep(0.01)
                spared = ticks - polls
                await until_ticks(ticks + 10 * REST_SECONDS)
                assert ticks - polls <= spared + 1, "a worker may come late"
        finally:
            running.cancel()

    beside(tmp_path, work)


def test_the_log_tells_when_haproxy_is_gone_and_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "haproxy_native.commit.watch")

    async def work(engine: Engine, haproxy: HAProxy, watch: ProcessWatch) -> None:
        for _ in range(3):
            await watch.poll()
        assert caplog.messages == []
        haproxy.kill()
        for _ in range(3):
            await watch.poll()
        haproxy.start()
        for _ in range(3):
            await watch.poll()
        gone, back = caplog.messages
        assert gone.startswith("HAProxy does not answer: ") and str(haproxy.stats) in gone
        assert back == f"HAProxy answers again (pid {haproxy.worker_pid()})"

    beside(tmp_path, work)
