"""While HAProxy reads the file, what needs a reload waits; what it has read at its start is over."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.engine import Engine
from haproxy_native.reload.strategies import ReloadClaim
from haproxy_native.request_context import NOBODY
from haproxy_native.text.section import Section
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import ByFunction, adding, backends, reload, run, run_beside, running_engine

# It passes `haproxy -c` and cannot be loaded.
BROKEN = "log-forward broken\n  bind 127.0.0.1:{port}\n  log ring@nowhere local0\n"


def test_a_change_that_needs_a_reload_waits_for_the_one_at_work(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine:
            await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
            assert engine.context.pending == engine.reloads.pending
            async with engine.loading() as loaded:
                writing = asyncio.create_task(engine.write([ByFunction(adding("c"))], Version(2), author=NOBODY))
                await asyncio.sleep(0.05)
                assert (loaded.version, engine.version()) == (2, 2)
                assert loaded.text.document is engine.document
                assert loaded.text.document.data == (tmp_path / "haproxy.cfg").read_bytes()
            assert (await writing).version == 3

    run(work())


@pytest.mark.parametrize("is_scheduled", [False, True])
def test_a_change_after_the_start_of_haproxy_does_not_share_the_reload_that_waited_for_it(tmp_path: Path, is_scheduled: bool) -> None:
    """Else its failure would be reported for what HAProxy has loaded when it started."""

    async def work(engine: Engine, haproxy: HAProxy) -> None:
        haproxy.kill()
        first = (await engine.write([ByFunction(adding("first"))], Version(1), author=NOBODY)).reload_id or ""
        waiting = await reload(engine)
        assert (waiting.id, waiting.status, waiting.phase) == (first, "in_progress", "waiting")
        if is_scheduled:
            assert (await engine.write([ByFunction(adding("more"))], Version(2), author=NOBODY)).reload_id == first
        haproxy.start()
        last = backends(haproxy)
        broken = Section("log-forward", "broken", BROKEN.format(port=free_port()))
        second = (
            await engine.write([ByFunction(lambda document: document.insert(broken))], Version(engine.version()), author=NOBODY)
        ).reload_id
        found = engine.reloads.records.get(first)
        assert (found.status, found.version, found.verified) == ("succeeded", 2 + is_scheduled, True)
        assert second not in (None, first)
        assert ((await reload(engine)).id, engine.reloads.records.get(second or "").status) == (second, "failed")
        assert backends(haproxy) == last == ["app", "first", "more"][: 2 + is_scheduled]
        assert engine.running is engine.document

    run_beside(tmp_path, work)


@pytest.mark.parametrize("has_lock", [True, False])
def test_a_change_shares_the_reload_that_has_begun_only_if_haproxy_reads_it(tmp_path: Path, has_lock: bool) -> None:
    """The reload begins while another change has the lock; a further change is published before or after the file is read."""

    async def work(engine: Engine, haproxy: HAProxy) -> None:
        first = (await engine.write([ByFunction(adding("first"))], Version(1), author=NOBODY)).reload_id or ""
        await engine.context.lock.acquire()
        changes = []
        if has_lock:
            changes.append(asyncio.create_task(engine.amend([ByFunction(adding("second"))], author=NOBODY)))
            await _waits_for(engine.context.lock, 1)
        reloading = asyncio.create_task(engine.reloads.force(()))
        await _waits_for(engine.context.lock, 1 + has_lock)
        if not has_lock:
            changes.append(asyncio.create_task(engine.amend([ByFunction(adding("second"))], author=NOBODY)))
            await _waits_for(engine.context.lock, 2)
        assert (engine.reloads.pending, engine.context.load) == (first, None)
        engine.context.lock.release()
        second = (await changes[0]).reload_id
        record = await reloading
        assert (record.id, record.status, record.version) == (first, "succeeded", 2 + has_lock)
        assert (second == first) is has_lock
        assert backends(haproxy) == ["app", "first", "second"][: 2 + has_lock]
        assert engine.reloads.pending == (None if has_lock else second)
        if not has_lock:
            assert ((await reload(engine)).id, backends(haproxy)) == (second, ["app", "first", "second"])
        assert engine.running is engine.document

    run_beside(tmp_path, work)


async def _waits_for(lock: asyncio.Lock, number: int) -> None:
    """Returns when so many wait for the lock."""
    async with asyncio.timeout(60):
        while len(lock._waiters or ()) < number:
            await asyncio.sleep(0.01)


class Failing:
    """A reload command that does nothing and fails."""

    async def run(self) -> ReloadClaim:
        return ReloadClaim(False, error="exit status 1")


def test_a_reload_that_fails_when_haproxy_has_already_started_with_its_text_has_succeeded(tmp_path: Path) -> None:
    async def work(engine: Engine, haproxy: HAProxy) -> None:
        engine.reloads._strategy = Failing()
        identity = (await engine.write([ByFunction(adding("first"))], Version(1), author=NOBODY)).reload_id
        haproxy.kill()
        haproxy.start()
        found = await reload(engine)
        assert (found.id, found.status, found.error, found.pid_after) == (identity, "succeeded", "", haproxy.worker_pid())
        assert engine.version() == 2
        assert (await reload(engine)).status == "failed", "a worker that was there when it was asked for does not count"

    run_beside(tmp_path, work)
