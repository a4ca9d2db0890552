"""What is noticed of a worker that comes and goes."""

import logging
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from haproxy_native.commit.process_watch import ProcessWatch
from haproxy_native.engine import Engine
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, reload, run, running_engine

SECONDS = 60.0


def beside(directory: Path, work: Callable[[Engine, HAProxy, ProcessWatch], object]) -> None:
    async def within() -> None:
        with HAProxy(directory, CONFIG.replace("%d", str(free_port())), binary=binaries.exactly("3.2")) as haproxy:
            async with running_engine(directory, haproxy) as engine:
                await engine._watching.stop()
                await work(engine, haproxy, ProcessWatch(engine.context))

    run(within())


def renew(haproxy: HAProxy) -> None:
    """Somebody else reloads HAProxy."""
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
        engine.reloads.failed_at = time.time() if after_failure else 0.0
        await watch.look()
        assert engine.running is None
        assert (engine.reloads.pending is not None) is after_failure
        if after_failure:
            worker = haproxy.worker_pid()
            assert (await reload(engine)).status == "succeeded"
            assert engine.running is engine.document
            assert haproxy.worker_pid() != worker
            await watch.look()
            assert engine.reloads.pending is None

    beside(tmp_path, work)


def test_a_worker_that_has_read_the_file_is_taken_over(tmp_path: Path) -> None:
    async def work(engine: Engine, haproxy: HAProxy, watch: ProcessWatch) -> None:
        renew(haproxy)
        await watch.look()
        assert engine.running is engine.document
        assert engine.context.state_file.value.pid == haproxy.worker_pid()
        assert engine.reloads.pending is None

    beside(tmp_path, work)


def test_the_log_tells_when_haproxy_is_gone_and_back(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "haproxy_native.commit.process_watch")

    async def work(engine: Engine, haproxy: HAProxy, watch: ProcessWatch) -> None:
        for _ in range(3):
            await watch.look()
        assert caplog.messages == []
        haproxy.kill()
        for _ in range(3):
            await watch.look()
        haproxy.start()
        for _ in range(3):
            await watch.look()
        gone, back = caplog.messages
        assert gone.startswith("HAProxy does not answer: ") and str(haproxy.stats) in gone
        assert back == f"HAProxy answers again (pid {haproxy.worker_pid()})"

    beside(tmp_path, work)
