"""A process that does not answer costs one timeout, however many commands are sent to it."""

import asyncio
import os
import signal
import time
from collections.abc import Sequence
from pathlib import Path

import pytest

from haproxy_native.errors import RuntimeAbsent
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.socket import SILENT_SECONDS, Pulse
from tests.haproxy.process import SMALL, HAProxy


def test_patience() -> None:
    async def check() -> None:
        pulse, now = Pulse(), asyncio.get_running_loop().time()
        assert pulse.patience(30) == 30 and not pulse.is_silent
        pulse.missed(now - 20)
        before = pulse.patience(30)
        assert SILENT_SECONDS < before <= 10 and pulse.is_silent
        pulse.missed(now - 1)
        assert SILENT_SECONDS < pulse.patience(30) <= before, "both have waited at the same time"
        pulse.missed(now - 40)
        assert pulse.patience(30) == SILENT_SECONDS and pulse.patience(0.1) == 0.1
        pulse.answered()
        assert pulse.patience(30) == 30 and not pulse.is_silent
        pulse.missed(now - 40)
        assert pulse.patience(30) == 30, "others have been answered since"

    asyncio.run(check())


def test_time_without_a_request_does_not_count(monkeypatch: pytest.MonkeyPatch) -> None:
    async def check() -> None:
        pulse, loop, now = Pulse(), asyncio.get_running_loop(), [100.0]
        monkeypatch.setattr(loop, "time", lambda: now[0])
        for _ in range(3):
            sent = now[0]
            now[0] += 0.01
            pulse.missed(sent)
            now[0] += 3600
        assert pulse.patience(30) > 29 and not pulse.is_silent, "clients have cancelled requests, an hour apart"
        monkeypatch.undo()

    asyncio.run(check())


async def fail_if_answered(runtime: Runtime, pids: Sequence[int]) -> None:
    """Send a request. If a process answers although all are stopped, fail with their states. Raises RuntimeAbsent if none answers."""
    answer = await runtime.send("show servers state")
    states = [await asyncio.to_thread(Path(f"/proc/{pid}/stat").read_text) for pid in pids]
    pytest.fail(f"answered by {states}: {answer}")


@pytest.mark.parametrize("master", [True, False])
def test_a_stopped_process(tmp_path: Path, master: bool) -> None:
    async def check(haproxy: HAProxy) -> None:
        runtime = Runtime(timeout=2.0)
        assert await runtime.connect(str(haproxy.master) if master else None, [str(haproxy.stats)])
        pids = [haproxy.worker_pid(), haproxy.pid]
        for pid in pids:
            os.kill(pid, signal.SIGSTOP)
        try:
            for seconds in ("2", *[f"{SILENT_SECONDS:g}"] * 4):
                with pytest.raises(RuntimeAbsent, match=rf"no answer within {seconds} s"):
                    await fail_if_answered(runtime, pids)
            assert runtime.is_silent
        finally:
            for pid in pids:
                os.kill(pid, signal.SIGCONT)
        deadline = time.monotonic() + 60
        while runtime.is_silent:
            assert time.monotonic() < deadline
            try:
                await runtime.worker()
            except RuntimeAbsent:
                await asyncio.sleep(0.1)

    with HAProxy(tmp_path, SMALL) as haproxy:
        asyncio.run(check(haproxy))
