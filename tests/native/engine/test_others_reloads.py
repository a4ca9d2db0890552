"""HAProxy reloaded, stopped or started by others: what it runs is followed, on every version."""

import asyncio
import os
import signal
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.request_context import NOBODY
from tests.demo.test_children import is_alive
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, ByFunction, adding, backends, reload, run, running_engine, substituting, weight
from tests.native.versions import newest


@pytest.fixture
def haproxy(tmp_path: Path, haproxy_binaries: str) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=haproxy_binaries) as haproxy:
        yield haproxy


async def reloaded_by_hand(haproxy: HAProxy) -> None:
    """Reload, and wait until the old worker is gone, which accepts some of the connections before, and until the master answers."""
    pid = haproxy.worker_pid()
    os.kill(haproxy.pid, signal.SIGUSR2)
    async with asyncio.timeout(60):
        while is_alive(pid) or not await other_worker(haproxy, pid):
            await asyncio.sleep(0.02)
        # Up to 2.6 the master executes itself once more after it has started the worker.
        await asyncio.to_thread(haproxy.wait_until_it_answers)


async def other_worker(haproxy: HAProxy, pid: int) -> bool:
    with suppress(OSError, AssertionError):
        return await asyncio.to_thread(haproxy.worker_pid) != pid
    return False


def test_a_reload_by_hand_loads_what_was_pending(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            assert (await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)).reload_id
            await reloaded_by_hand(haproxy)
            assert backends(haproxy) == ["app", "b"]
            assert (await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(2), author=NOBODY)).live
            assert engine.running is engine.document
            assert weight(haproxy) == "20"

    run(work())


def test_an_edit_and_a_reload_by_hand(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            # It may see the other worker before the edit is noticed, and does not know then what that has read.
            await engine._watching.stop()
            haproxy.file.write_text(haproxy.file.read_text().replace("weight 10", "weight 20"))
            await reloaded_by_hand(haproxy)
            assert await engine.notice()
            assert (await engine.write([ByFunction(substituting("weight 20", "weight 10"))], Version(2), author=NOBODY)).live
            assert weight(haproxy) == "10", "back to what was loaded before the edit, but not since"

    run(work())


def test_a_file_that_changed_after_the_reload_by_hand(haproxy: HAProxy) -> None:
    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            # It would see the other worker before the edit if it had the time, and know what that has read.
            await engine._watching.stop()
            await reloaded_by_hand(haproxy)
            haproxy.file.write_text(haproxy.file.read_text().replace("weight 10", "weight 20"))
            assert await engine.notice()
            outcome = await engine.write([ByFunction(substituting("weight 20", "weight 30"))], Version(2), author=NOBODY)
            assert outcome.reload_id, "whether the worker has loaded the edited text is unknown"
            assert (await reload(engine)).status == "succeeded"
            assert weight(haproxy) == "30"

    run(work())


@newest
def test_haproxy_down_at_our_start(haproxy: HAProxy) -> None:
    async def work() -> None:
        haproxy.stop()
        async with running_engine(haproxy.directory, haproxy) as engine:
            outcome = await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)
            assert outcome.reload_id
            haproxy.start()
            assert (await engine.write([ByFunction(substituting("weight 20", "weight 30"))], Version(2), author=NOBODY)).live
            assert weight(haproxy) == "30"

    run(work())


@newest
def test_haproxy_started_anew(haproxy: HAProxy) -> None:
    """What was changed live is in the file that it reads."""

    async def work() -> None:
        async with running_engine(haproxy.directory, haproxy) as engine:
            assert (await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)).live
            haproxy.stop()
            haproxy.start()
            assert weight(haproxy) == "20"
            assert (await engine.write([ByFunction(substituting("weight 20", "weight 30"))], Version(2), author=NOBODY)).live
            assert weight(haproxy) == "30"

    run(work())
