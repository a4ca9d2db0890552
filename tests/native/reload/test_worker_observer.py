"""What can be seen of a reload, on every version and through either socket."""

import asyncio
import os
import signal
import time
from collections.abc import Callable

import pytest

from haproxy_native.reload.agent import WorkerObserver
from haproxy_native.reload.strategies import ReloadClaim
from haproxy_native.reload.verdict import MASTER_FAILED, ReloadEnding, ReloadVerdict
from haproxy_native.runtime.client import Runtime, Worker
from tests.haproxy.process import HAProxy, free_port
from tests.native.versions import newest


def look(
    haproxy: HAProxy, through: str, event: Callable[[], object], *, patience: float = 20.0, ok: bool = True, known: bool = True
) -> tuple[ReloadVerdict, WorkerObserver]:
    async def run() -> tuple[ReloadVerdict, WorkerObserver]:
        runtime = Runtime(timeout=60)
        await runtime.connect(str(haproxy.master) if through == "master" else None, [str(haproxy.stats)], 0, 0.02)
        sight, began = WorkerObserver(runtime, known=known, patience=patience), time.time()
        await sight.before()
        event()
        return await sight.after(began, ReloadClaim(ok)), sight

    return asyncio.run(run())


@pytest.mark.parametrize("through", ["master", "stats"])
@pytest.mark.parametrize("ok", [True, False])
def test_a_new_worker(haproxy: HAProxy, through: str, ok: bool) -> None:
    """Also of a command that fails after it has reloaded: its exit status is known long before the new worker answers."""
    before = haproxy.worker_pid()
    seen, sight = look(haproxy, through, lambda: os.kill(haproxy.pid, signal.SIGUSR2), ok=ok)
    assert seen.ending is ReloadEnding.LOADED and seen.worker and seen.worker.pid == haproxy.newest_worker()
    assert sight.worker and sight.worker.pid == before != seen.worker.pid


def test_the_master_tells_a_failure_without_waiting(haproxy: HAProxy) -> None:
    haproxy.write(haproxy.file.read_text() + "  nonsense\n")
    seen, sight = look(haproxy, "master", lambda: os.kill(haproxy.pid, signal.SIGUSR2), patience=600)
    assert seen.ending is ReloadEnding.REFUSED and seen.why == MASTER_FAILED and seen.worker == sight.worker


def test_nothing_happens(haproxy: HAProxy) -> None:
    for through in ("master", "stats"):
        seen, sight = look(haproxy, through, lambda: None, patience=0.1)
        assert seen.ending is ReloadEnding.REFUSED and sight.worker
        assert f"the former worker (pid {sight.worker.pid}) still answers" in seen.why


@newest
@pytest.mark.parametrize(("ok", "ending"), [(True, ReloadEnding.ABSENT), (False, ReloadEnding.REFUSED)])
def test_haproxy_is_gone(haproxy: HAProxy, ok: bool, ending: ReloadEnding) -> None:
    seen, _ = look(haproxy, "stats", haproxy.stop, patience=0.1, ok=ok)
    assert (seen.ending, seen.worker) == (ending, None)


@newest
def test_haproxy_was_not_there(haproxy: HAProxy) -> None:
    """It is not there afterwards, or it is."""
    haproxy.stop()
    for known, ending in ((True, ReloadEnding.ABSENT), (False, ReloadEnding.UNSEEN)):
        for ok in (True, False):
            assert look(haproxy, "stats", lambda: None, patience=0.1, ok=ok, known=known)[0] == ReloadVerdict(ending)
    seen, sight = look(haproxy, "stats", haproxy.start)
    assert seen.ending is ReloadEnding.LOADED and sight.worker is None


def test_no_socket_at_all() -> None:
    async def run() -> ReloadVerdict:
        sight = WorkerObserver(Runtime())
        await sight.before()
        return await sight.after(time.time(), ReloadClaim(True))

    assert asyncio.run(run()) == ReloadVerdict(ReloadEnding.UNSEEN)


@newest
def test_a_claimed_failure_while_haproxy_is_away(haproxy: HAProxy) -> None:
    haproxy.stop()

    async def run() -> tuple[ReloadEnding, Worker | None]:
        runtime = Runtime(timeout=60)
        runtime.use(None, [str(haproxy.stats)])
        sight, began = WorkerObserver(runtime), time.time()
        await sight.before()
        await asyncio.to_thread(haproxy.start)
        return (await sight.after(began, ReloadClaim(False))).ending, sight.worker

    assert asyncio.run(run()) == (ReloadEnding.LOADED, None)


def test_haproxy_says_why_it_does_not_start(haproxy: HAProxy) -> None:
    """Of a text that passes `haproxy -c`; up to 2.6 it keeps no log."""
    haproxy.write(haproxy.file.read_text() + f"log-forward x\n  bind 127.0.0.1:{free_port()}\n  log ring@nowhere local0\n")

    async def run() -> str:
        runtime = Runtime(timeout=60)
        await runtime.connect(str(haproxy.master), [str(haproxy.stats)], 0, 0.02)
        sight, began = WorkerObserver(runtime, patience=600), time.time()
        await sight.before()
        os.kill(haproxy.pid, signal.SIGUSR2)
        assert (await sight.after(began, ReloadClaim(True))).why == MASTER_FAILED
        return await sight.startup_log()

    said = asyncio.run(run())
    assert "uses unknown ring named 'nowhere'" in said if haproxy.version > (2, 6) else said == ""
