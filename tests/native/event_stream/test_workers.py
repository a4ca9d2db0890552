import asyncio
import json
from pathlib import Path

from haproxy_native.event_stream.stream import WORKER, EventStream, Wanted
from haproxy_native.event_stream.workers import WorkerWatch
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, reload, run, running_engine


def test_another_worker_is_published_once(tmp_path: Path) -> None:
    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port()) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                stream, calls = EventStream(), []
                running = asyncio.create_task(WorkerWatch(engine, stream, lambda: calls.append(None)).run())
                await asyncio.sleep(0.1)
                former = engine.context.running.worker.pid
                with stream.subscription(Wanted({WORKER})) as subscription:
                    await reload(engine)
                    (event,) = await subscription.read(60)
                    pid = await engine.runtime.worker_pid()
                    assert json.loads(event.body)["data"] == {"pid": pid, "former": former} and pid != former
                    assert await subscription.read(0.6) == [] and calls == [None]
                running.cancel()

    run(work())
