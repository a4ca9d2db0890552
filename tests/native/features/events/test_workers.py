import json
from pathlib import Path

from haproxy_native.editing.editor import Editor
from haproxy_native.features.events.sources import EventSources
from haproxy_native.features.events.stream import WORKER, EventFilter
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, reload, run, running_engine


def test_another_worker_is_published_once(tmp_path: Path) -> None:
    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port()) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine, EventSources(engine, Editor()) as sources:
                former = engine.context.running.worker.pid
                with sources.stream.subscription(EventFilter({WORKER})) as subscription:
                    await reload(engine)
                    (event,) = await subscription.read(60)
                    pid = await engine.runtime.worker_pid()
                    assert json.loads(event.body)["data"] == {"pid": pid, "former": former} and pid != former
                    assert await subscription.read(0.6) == []

    run(work())
