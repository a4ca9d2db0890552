from pathlib import Path

from haproxy_native.changes.expect import Version
from haproxy_native.editing.editor import Editor
from haproxy_native.features.events.sources import EventSources
from haproxy_native.features.events.stream import CONFIG, RELOAD, SERVER, STATS, WORKER, EventFilter
from haproxy_native.request_context import NOBODY
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG as TEXT
from tests.native.engines import ByFunction, adding, run, running_engine


def test_the_present_state_of_what_is_wanted(tmp_path: Path) -> None:
    async def work() -> None:
        with HAProxy(tmp_path, TEXT % free_port()) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine, EventSources(engine, Editor()) as sources:
                assert await sources.current_state(EventFilter({CONFIG})) == {"version": engine.version()}
                everything = EventFilter({SERVER, STATS, WORKER, RELOAD}, "backend/app/**")
                state = await sources.current_state(everything)
                assert state["worker"] == await engine.runtime.worker_pid() and state["reload_pending"] is None
                assert [each["object"] for each in state["servers"]] == ["backend/app/server/s1"]
                assert {each["object"] for each in state["stats"]} == {"backend/app", "backend/app/server/s1"}
                assert sources.lines_to_add

    run(work())


def test_without_a_haproxy_there_are_events_of_changes(tmp_path: Path) -> None:
    async def work() -> None:
        (tmp_path / "haproxy.cfg").write_text("global\n")
        async with running_engine(tmp_path) as engine, EventSources(engine, Editor()) as sources:
            assert "servers" not in await sources.current_state(EventFilter({SERVER}))
            with sources.stream.subscription(EventFilter()) as subscription:
                await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)
                (event,) = await subscription.read(60)
                assert event.type == CONFIG
        assert subscription.is_closed is False, "it had left before"

    run(work())
