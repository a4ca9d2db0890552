"""One drain beside a real HAProxy, step by step."""

import asyncio
from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.features.drains.drains import MAINTENANCE, Drain, DrainFailed, DrainWatch
from haproxy_native.features.overrides.overrides import Overrides
from haproxy_native.operations.operations import Operations, RunningOperation
from haproxy_native.request_context import NOBODY
from haproxy_native.workers.workers import Workers
from tests.haproxy.process import HAProxy
from tests.native.engines import reload, run, running_engine

OBJECT = "backend/app/server/s1"


def test_drained_counted_put_back(haproxy: HAProxy, tmp_path: Path) -> None:
    def state() -> str:
        return haproxy.ask("show servers state app").splitlines()[2].split()[6]

    async def story() -> None:
        seen = asyncio.Queue[RunningOperation]()

        async def work(running: RunningOperation) -> None:
            await seen.put(running)
            await asyncio.Event().wait()

        async with (
            running_engine(tmp_path, haproxy) as engine,
            Operations(engine.database, {"drain": work}) as operations,
        ):
            operations.begin("drain", **Drain([OBJECT, "backend/app/server/gone"], timeout=0.0).arguments, author=NOBODY)
            overrides = Overrides(engine, Editor())
            watch = DrainWatch(engine, Workers(engine), await seen.get())
            assert await watch.is_idle() and watch.has_timed_out and state() == "8"
            assert watch.sessions == {OBJECT: 0, "backend/app/server/gone": 0}
            assert watch.running.now.progress["before"] == {OBJECT: "ready"}
            await reload(engine)
            assert state() == "8", "kept over the reload"
            haproxy.ask("set server app/s1 state ready")
            engine.context.observers.remove(overrides)
            await reload(engine)
            assert state() == "0"
            assert await watch.is_idle() and state() == "8", "again, in a new worker"
            await watch.set_all(MAINTENANCE)
            assert state() == "1"
            await watch.restore()
            assert state() == "0"
            with pytest.raises(DrainFailed, match="made ready by others"):
                await watch.is_idle()
            haproxy.stop()
            assert not await watch.is_idle(), "nobody can tell"

    run(story())
