"""What can be seen of a reload, on every version and through either socket."""

import asyncio
import os
import signal
import time
from collections.abc import Callable

import pytest

from native.reload.sight import Seen, Sight
from native.runtime.client import Runtime, Worker
from tests.haproxy.process import HAProxy


def look(haproxy: HAProxy, through: str, event: Callable[[], object], *, patience: float = 20.0) -> tuple[Seen, Sight]:
    async def run() -> tuple[Seen, Sight]:
        runtime = Runtime(timeout=10)
        await runtime.connect(str(haproxy.master) if through == "master" else None, [str(haproxy.stats)], 0, 0.02)
        sight, began = Sight(runtime, patience=patience), time.time()
        await sight.before()
        event()
        return await sight.after(began), sight

    return asyncio.run(run())


@pytest.mark.parametrize("through", ["master", "stats"])
def test_a_new_worker(haproxy: HAProxy, through: str) -> None:
    before = haproxy.worker_pid()
    seen, sight = look(haproxy, through, lambda: os.kill(haproxy.pid, signal.SIGUSR2))
    assert seen.success is True and seen.worker and seen.worker.pid == haproxy.worker_pid()
    assert sight.worker and sight.worker.pid == before != seen.worker.pid


def test_the_master_tells_a_failure_without_waiting(haproxy: HAProxy) -> None:
    haproxy.write(haproxy.file.read_text() + "  nonsense\n")
    seen, sight = look(haproxy, "master", lambda: os.kill(haproxy.pid, signal.SIGUSR2), patience=600)
    assert seen.success is False and "the master reports a failed reload" in seen.why and seen.worker == sight.worker


@pytest.mark.parametrize("through", ["master", "stats"])
def test_nothing_happens(haproxy: HAProxy, through: str) -> None:
    seen, sight = look(haproxy, through, lambda: None, patience=0.1)
    assert seen.success is False and sight.worker and f"the worker of before (pid {sight.worker.pid}) still answers" in seen.why


def test_haproxy_is_gone(haproxy: HAProxy) -> None:
    seen, _ = look(haproxy, "stats", haproxy.stop, patience=0.1)
    assert seen.success is False and "no worker answers at" in seen.why and str(haproxy.stats) in seen.why


def test_haproxy_was_not_there_and_is_now(haproxy: HAProxy) -> None:
    haproxy.stop()
    seen, sight = look(haproxy, "stats", haproxy.start)
    assert seen.success is True and sight.worker is None


def test_neither_before_nor_after(haproxy: HAProxy) -> None:
    haproxy.stop()
    assert look(haproxy, "stats", lambda: None)[0] == Seen(None)


def test_no_socket_at_all() -> None:
    async def run() -> tuple[Seen, Seen]:
        sight = Sight(Runtime())
        await sight.before()
        return await sight.after(time.time()), await sight.after_failure(time.time())

    assert asyncio.run(run()) == (Seen(None), Seen(None))


def test_a_glance_after_a_claimed_failure(haproxy: HAProxy) -> None:
    async def run() -> tuple[bool | None, bool | None]:
        runtime = Runtime(timeout=10)
        await runtime.connect(str(haproxy.master), [], 0, 0.02)
        sight = Sight(runtime)
        await sight.before()
        first = await sight.after_failure(time.time())
        master = runtime.configured_master
        assert master and (await master.reload()).success
        return first.success, (await sight.after_failure(time.time())).success

    assert asyncio.run(run()) == (False, True)


@pytest.mark.parametrize(("starts", "success"), [(True, True), (False, None)])
def test_a_claimed_failure_while_haproxy_is_away(haproxy: HAProxy, starts: bool, success: bool | None) -> None:
    haproxy.stop()

    async def run() -> tuple[bool | None, Worker | None]:
        runtime = Runtime(timeout=10)
        runtime.use(None, [str(haproxy.stats)])
        sight, began = Sight(runtime, patience=60 if starts else 0.1, restart=60), time.time()
        await sight.before()
        looking = asyncio.ensure_future(sight.after_failure(began))
        if starts:
            await asyncio.to_thread(haproxy.start)
        return (await looking).success, sight.worker

    assert asyncio.run(run()) == (success, None)
