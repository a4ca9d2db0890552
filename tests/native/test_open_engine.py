"""Open an engine without the server: its sockets, its way to reload, and no state shared with another engine in the same process."""

import asyncio
import threading
from pathlib import Path

import pytest

from haproxy_native.changes.expect import Version
from haproxy_native.check.check import CheckSettings
from haproxy_native.commit.change import Reload
from haproxy_native.disk.files import ConfigFiles
from haproxy_native.engine import EngineSettings
from haproxy_native.open_engine import Process, opened, use_sockets
from haproxy_native.request_context import NOBODY
from haproxy_native.runtime.client import Runtime
from haproxy_native.runtime.working_directory import WorkingDirectory
from tests.haproxy.process import SMALL, HAProxy
from tests.native.engines import ByFunction, adding


def settings(directory: Path) -> EngineSettings:
    return EngineSettings(
        directory / "haproxy.cfg",
        directory / "storage",
        transactions=directory / "transactions",
        check=CheckSettings(command="true"),
        watch=False,
    )


def test_a_reload_through_the_master(tmp_path: Path) -> None:
    async def work() -> None:
        async with opened(settings(tmp_path), Process(str(haproxy.master))) as engine:
            assert engine.runtime.address == str(haproxy.master)
            assert (await engine.write([ByFunction(adding("b"))], Version(1), reload=Reload.NOW, author=NOBODY)).live
            assert "b" in haproxy.ask("show backend").split()

    with HAProxy(tmp_path, SMALL.replace("defaults", "defaults base")) as haproxy:
        asyncio.run(work())


def test_sockets_of_the_files(tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("global\n  stats socket /a.sock\n")
    runtime = Runtime()
    use_sockets(runtime, "/m.sock", ConfigFiles(tmp_path / "haproxy.cfg", tmp_path), "")
    assert runtime.address == "/m.sock, /a.sock"


def test_a_relative_socket_is_in_the_directory_of_the_unit(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("haproxy_native.open_engine.WorkingDirectory", lambda unit: WorkingDirectory(unit, places=[tmp_path]))
    (tmp_path / "haproxy.cfg").write_text("global\n  stats socket a.sock,unix@run/b.sock,abns@c,127.0.0.1:9999,/d.sock\n")
    files, runtime = ConfigFiles(tmp_path / "haproxy.cfg", tmp_path), Runtime()
    use_sockets(runtime, None, files, "haproxy.service")
    assert runtime.address == "a.sock, unix@run/b.sock, abns@c, /d.sock, 127.0.0.1:9999"
    (tmp_path / "haproxy.service").write_text(f"[Service]\nExecStart=haproxy -f x\nWorkingDirectory={tmp_path}\n")
    use_sockets(runtime, None, files, "haproxy.service")
    assert runtime.address == f"{tmp_path}/a.sock, {tmp_path}/run/b.sock, abns@c, /d.sock, 127.0.0.1:9999"


def test_two_in_two_threads_share_nothing(tmp_path: Path) -> None:
    meeting = threading.Barrier(2, timeout=60)
    found: dict[str, tuple[int, list[str], list[str]]] = {}

    async def work(name: str) -> None:
        (tmp_path / name).mkdir()
        (tmp_path / name / "haproxy.cfg").write_text("defaults base\n")
        async with opened(settings(tmp_path / name), Process(command=["true"], delay=3600)) as engine:
            for number in range(10):
                await asyncio.to_thread(meeting.wait)
                transaction = engine.start_transaction(engine.version(), author=NOBODY)
                await engine.write([ByFunction(adding(f"{name}{number}"))], transaction_id=transaction.id, author=NOBODY)
                assert [each.id for each in engine.transactions(author=NOBODY)] == [transaction.id]
                await engine.commit_transaction(transaction.id, author=NOBODY)
            pending = [engine.reloads.pending or ""]
            found[name] = engine.version(), [each for each, _ in engine.document.of_kind("backend")], pending

    threads = [threading.Thread(target=asyncio.run, args=(work(name),)) for name in "xy"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in "xy":
        version, backends, pending = found[name]
        assert (version, backends) == (11, [f"{name}{number}" for number in range(10)])
        assert pending[0].endswith("-0"), "each counts its own reloads"
