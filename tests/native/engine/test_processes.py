"""File and process agree after failed reloads, failed commands, and restarts of either."""

from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.commit.change import Reload
from haproxy_native.editing import header
from haproxy_native.errors import (
    ReloadFailed,
)
from haproxy_native.request_context import NOBODY
from tests.haproxy.process import HAProxy
from tests.native.engines import ByFunction, adding, backends, body, reload, run, running_engine, substituting, weight


class TestFailedReloads:
    def test_the_file_goes_back(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            text = haproxy.file.read_text()
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert (await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)).live
                pid = haproxy.worker_pid()
                bad = substituting("  default_backend", "  bind 203.0.113.7:8099\n  default_backend")
                assert (await engine.write([ByFunction(bad)], Version(2), author=NOBODY)).reload_id
                record = await reload(engine)
                assert (record.status, record.version, record.restored_version, record.verified) == ("failed", 3, 4, True)
                assert "203.0.113.7:8099" in record.response
                assert b"203.0.113.7:8099" in (await engine.reloads.records.refused(record.id) or b"")
                assert engine.version() == 4 == header.version_of(engine.document)
                assert engine.document.data == haproxy.file.read_bytes()
                assert body(haproxy.file) == text.replace("weight 10", "weight 20")
                assert haproxy.worker_pid() == pid
                assert (await engine.write([ByFunction(substituting("weight 20", "weight 30"))], Version(4), author=NOBODY)).live
                with pytest.raises(ReloadFailed):
                    await engine.write([ByFunction(bad)], Version(5), reload=Reload.NOW, author=NOBODY)
                assert engine.version() == 7
                assert body(haproxy.file) == text.replace("weight 10", "weight 30")
                assert weight(haproxy) == "30"

        run(work())

    def test_a_live_command_that_fails_leads_to_a_reload(self, haproxy: HAProxy, monkeypatch: pytest.MonkeyPatch) -> None:
        """The server goes between the plan and its commands."""
        monkeypatch.setattr("haproxy_native.commit.process.observable", lambda *_: set())

        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)
                haproxy.ask("set server app/s1 state maint")
                haproxy.ask("del server app/s1")
                outcome = await engine.write([ByFunction(substituting("weight 20", "weight 30"))], Version(2), author=NOBODY)
                assert outcome.reload_id
                assert "a runtime command failed" in outcome.reasons[0].why
                assert (outcome.reasons[0].section, outcome.reasons[0].keyword) == ("backend app", "server")
                again = await engine.write([ByFunction(substituting("weight 30", "weight 40"))], Version(3), author=NOBODY)
                assert again.reload_id == outcome.reload_id
                assert (await reload(engine)).status == "succeeded"
                assert weight(haproxy) == "40"
                assert (await engine.write([ByFunction(substituting("weight 40", "weight 50"))], Version(4), author=NOBODY)).live

        run(work())


class TestRestarts:
    """What the engine has of the process after one of the two was restarted."""

    def test_a_restart_of_the_server(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert (await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)).live
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert (await engine.write([ByFunction(substituting("weight 20", "weight 30"))], Version(2), author=NOBODY)).live
                assert weight(haproxy) == "30"
                await engine.write([ByFunction(adding("b"))], Version(3), author=NOBODY)
                promised = engine.context.pending
                assert promised
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.context.pending == promised, "a reload that was promised is still owed"
                assert engine.running is not engine.document
                assert (await engine.write([ByFunction(substituting("weight 30", "weight 40"))], Version(4), author=NOBODY)).live
                assert engine.context.pending and weight(haproxy) == "40"
                assert (await reload(engine)).status == "succeeded"
                assert (weight(haproxy), backends(haproxy)) == ("40", ["app", "b"])
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.context.pending is None

        run(work())

    def test_a_worker_of_which_nothing_is_known(self, haproxy: HAProxy) -> None:
        async def work() -> None:
            haproxy.file.write_text(haproxy.file.read_text() + "\n# edited after the start\n")
            async with running_engine(haproxy.directory, haproxy) as engine:
                assert engine.running is None
                outcome = await engine.write([ByFunction(substituting("weight 10", "weight 20"))], Version(1), author=NOBODY)
                assert outcome.reasons[0].why == "it is not known what HAProxy has loaded"
                assert (await reload(engine)).status == "succeeded"
                assert engine.running is engine.document
                assert weight(haproxy) == "20"

        run(work())

    def test_without_a_socket_every_change_reloads(self, tmp_path: Path) -> None:
        async def work() -> None:
            (tmp_path / "haproxy.cfg").write_text("global\n")
            async with running_engine(tmp_path) as engine:
                assert (await engine.write([ByFunction(adding("b"))], Version(1), author=NOBODY)).reload_id

        run(work())
