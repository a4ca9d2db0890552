from pathlib import Path

from haproxy_native.editing.editor import Editor
from haproxy_native.features.drift.drift import NOT_LOADED, Difference, Drift
from haproxy_native.features.overrides.overrides import Overrides
from haproxy_native.process_state import Drifted
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, run, running_engine, substituting


def test_what_others_have_written_and_nobody_loads(tmp_path: Path) -> None:
    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port()) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                drift = Drift(engine, Editor(), Overrides(engine, Editor()))
                found = await drift.find()
                assert (found.differences, found.is_known, found.answers, found.notes) == ([], True, True, [])
                file = tmp_path / "haproxy.cfg"
                file.write_bytes(substituting("weight 10", "weight 12")(engine.document).data)
                found = await drift.find()
                assert found.differences == [Difference("backend/app/server/s1", "weight", ("file", "running"), (12, 10), NOT_LOADED)]

    run(work())


def test_servers_of_the_process_alone_are_notes(tmp_path: Path) -> None:
    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port()) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                engine.context.running.step(Drifted("server app/new", "", "there"))
                assert (await Drift(engine, Editor(), Overrides(engine, Editor())).find()).notes == ["server app/new"]

    run(work())
