from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.features.drift.drift import NOT_LOADED, OUTSIDE, Difference, Drift
from haproxy_native.features.overrides.overrides import Overrides
from haproxy_native.process_state import Drifted
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG, run, running_engine, substituting


def test_what_others_have_written_and_nobody_loads(tmp_path: Path) -> None:
    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port()) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                drift = Drift(engine, Overrides(engine, Editor()))
                found = await drift.find()
                assert (found.differences, found.is_known, found.answers, found.notes) == ([], True, True, [])
                file = tmp_path / "haproxy.cfg"
                file.write_bytes(substituting("weight 10", "weight 12")(engine.document).data)
                found = await drift.find()
                assert found.differences == [Difference("backend/app/server/s1", "weight", ("file", "running"), (12, 10), NOT_LOADED)]

    run(work())


@pytest.mark.parametrize("version", ["2.6", "3.2"])
def test_frontends_that_others_have_changed(tmp_path: Path, version: str) -> None:
    """A frontend has its own limit, an inherited one or that of the process, and may be disabled by the file."""
    few = " from few\n bind 127.0.0.1:"
    text = CONFIG % free_port() + f"defaults few from base\n maxconn 7\nfrontend own{few}{free_port()}\n maxconn 5\n"
    text += f"listen other{few}{free_port()}\nfrontend off{few}{free_port()}\n disabled\n"
    text += f"frontend plain from base\n bind 127.0.0.1:{free_port()}\nfrontend zero from few\n bind 127.0.0.1:{free_port()}\n maxconn 0\n"
    text = text.replace("global\n", "global\n maxconn 99\n", 1)

    async def work() -> None:
        with HAProxy(tmp_path, text, binary=binaries.exactly(version)) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                drift = Drift(engine, Overrides(engine, Editor()))
                assert (await drift.find()).differences == []
                changes = ("disable frontend web", "set maxconn frontend own 3", "set maxconn frontend other 4", "set maxconn global 55")
                for command in (*changes, "set maxconn frontend plain 6", "set maxconn frontend zero 8"):
                    haproxy.ask(command)
                between = ("running", "worker")
                assert (await drift.find()).differences == [
                    Difference("global", "performance_options", between, ({"maxconn": 99}, {"maxconn": 55}), OUTSIDE),
                    Difference("frontend/web", "disabled", between, (False, True), OUTSIDE),
                    Difference("frontend/own", "maxconn", between, (5, 3), OUTSIDE),
                    Difference("listen/other", "maxconn", between, (7, 4), OUTSIDE),
                    Difference("frontend/plain", "maxconn", between, (99, 6), OUTSIDE),
                    Difference("frontend/zero", "maxconn", between, (99, 8), OUTSIDE),
                ]
                changes = ("enable frontend web", "set maxconn frontend own 5", "shutdown frontend other", "set maxconn global 0")
                for command in (*changes, "set maxconn frontend plain 99", "set maxconn frontend zero 99"):
                    haproxy.ask(command)
                assert {each.object for each in (await drift.find()).differences} == {"listen/other"}

    run(work())


def test_servers_of_the_process_alone_are_notes(tmp_path: Path) -> None:
    async def work() -> None:
        with HAProxy(tmp_path, CONFIG % free_port()) as haproxy:
            async with running_engine(tmp_path, haproxy) as engine:
                engine.context.running.step(Drifted("server app/new", "", "there"))
                assert (await Drift(engine, Overrides(engine, Editor())).find()).notes == ["server app/new"]

    run(work())
