"""The unit in which a shadow runs, without a service manager: its command, run for each connection."""

import asyncio
import os
import shlex
import shutil
import signal
import socket
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.check.run import Confinement
from haproxy_native.child import Child
from haproxy_native.errors import NoShadow
from haproxy_native.shadow import launch
from haproxy_native.shadow.isolation import without_network
from haproxy_native.shadow.process import Asked, ShadowProcess, start
from haproxy_native.text.document import Document
from tests.rules.sources import CHECKOUT

UNIT = CHECKOUT / "systemd" / "dataplaneapi-shadow@.service"
TEXT = """\
global
    lua-load %s

frontend site
    mode http
    timeout client 5s
    bind :80
    http-request lua.call
    http-request set-var(txn.seen) var(txn.variable)
    http-request return status 200
"""
LUA = """\
core.register_action("call", { "http-req" }, function(txn)
    txn:set_var("txn.variable", os.getenv("NAMED"))
end)
"""


Work = Callable[[list[asyncio.subprocess.Process]], Awaitable[None]]
isolated = pytest.mark.skipif(without_network() is None, reason="no namespaces of its own here")


def command() -> list[str]:
    """As systemd runs it: $$ is a dollar. (systemd.service(5), "Command lines")"""
    (line,) = (line for line in UNIT.read_text().splitlines() if line.startswith("ExecStart="))
    return shlex.split(line.partition("=")[2].replace("$$", "$"))


@asynccontextmanager
async def manager(path: Path, before: Sequence[str]) -> AsyncIterator[list[asyncio.subprocess.Process]]:
    """Starts the unit's command for each connection, and ends what is left of it with its main process.

    `before` is what stands before the command.
    """
    started: list[asyncio.subprocess.Process] = []
    clearing: list[asyncio.Task[None]] = []

    async def serve(listener: socket.socket) -> None:
        while True:
            connection, _ = await asyncio.get_running_loop().sock_accept(listener)
            with connection:
                connection.setblocking(True)
                program, *words = *before, *command()
                started.append(
                    await asyncio.create_subprocess_exec(
                        program, *words, stdin=connection, stdout=connection, stderr=connection, start_new_session=True
                    )
                )
            clearing.append(asyncio.create_task(clear(started[-1])))

    async def clear(process: asyncio.subprocess.Process) -> None:
        await process.wait()
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)

    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()
        listener.setblocking(False)
        serving = asyncio.create_task(serve(listener))
        try:
            yield started
        finally:
            serving.cancel()
            for process in started:
                with suppress(ProcessLookupError):
                    process.kill()
                await clear(process)


@pytest.fixture
def with_unit(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., None]]:
    """In a directory whose name is short enough for sockets."""
    directory = Path(tempfile.mkdtemp())
    monkeypatch.setattr(launch, "without_network", lambda: None)
    monkeypatch.setattr(launch, "UNIT_SOCKET", directory / "unit.sock")
    monkeypatch.setattr(launch, "UNIT_DIRECTORY", directory)

    def run(work: Work, before: Sequence[str] = without_network() or ()) -> None:
        async def within() -> None:
            async with asyncio.timeout(60), manager(directory / "unit.sock", before) as started:
                await work(started)

        asyncio.run(within())

    yield run
    shutil.rmtree(directory)


def document(directory: Path) -> Document:
    (directory / "a.lua").write_text(LUA)
    return Document.parse(TEXT % (directory / "a.lua") + '# "${NAMED}"\n')


@isolated
def test_it_answers_and_ends_with_its_connection(haproxy_binary: str, tmp_path: Path, with_unit: Callable[..., None]) -> None:
    async def work(started: list[asyncio.subprocess.Process]) -> None:
        process = await start(document(tmp_path), haproxy_binary, tmp_path, {**os.environ, "NAMED": "a b\n'c"})
        try:
            seen = await process.ask(Asked(process.shadow.listeners[0], b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            assert (seen.status, seen.variables) == (200, {"txn.seen": "a b\n'c"})
            assert not process.ended
        finally:
            await process.close()
        (unit,) = started
        await unit.wait()

    with_unit(work)


@isolated
def test_why_it_does_not_start(haproxy_binary: str, tmp_path: Path, with_unit: Callable[..., None]) -> None:
    async def work(_: list[asyncio.subprocess.Process]) -> None:
        with pytest.raises(NoShadow, match="line 3 .nonsense.: unknown keyword 'nonsense'"):
            await start(Document.parse("frontend a\n    bind :80\n    nonsense\n"), haproxy_binary, tmp_path)

    with_unit(work)


@isolated
def test_the_connection_ends_with_it(haproxy_binary: str, tmp_path: Path, with_unit: Callable[..., None]) -> None:
    async def work(started: list[asyncio.subprocess.Process]) -> None:
        process: ShadowProcess = await start(document(tmp_path), haproxy_binary, tmp_path)
        os.killpg(started[0].pid, signal.SIGKILL)
        while not process.ended:
            await asyncio.sleep(0.01)
        await process.close()

    with_unit(work)


def test_one_that_has_the_network_of_the_machine_is_not_used(haproxy_binary: str, tmp_path: Path, with_unit: Callable[..., None]) -> None:
    async def work(_: list[asyncio.subprocess.Process]) -> None:
        with pytest.raises(NoShadow, match="could reach others"):
            await start(document(tmp_path), haproxy_binary, tmp_path)

    with_unit(work, ())


def test_without_the_unit_what_may_reach_others_is_refused(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(launch, "without_network", lambda: None)
    monkeypatch.setattr(launch, "UNIT_SOCKET", tmp_path / "nosuch")
    with pytest.raises(NoShadow, match="could reach others, .* dataplaneapi-shadow.socket"):
        asyncio.run(start(document(tmp_path), haproxy_binary, tmp_path))


def test_one_that_nobody_waits_for_is_ended(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # It reaches nobody, so it starts on any machine.
    text = "".join(line for line in TEXT.splitlines(keepends=True) if "lua" not in line)
    started: list[Child] = []

    class Slow(Confinement):
        def start(self, *words: Any, **options: Any) -> Child:
            started.append(child := super().start(*words, **options))
            time.sleep(0.2)
            return child

    async def work() -> None:
        monkeypatch.setattr(launch, "Confinement", Slow)
        starting = asyncio.create_task(start(Document.parse(text.encode()), haproxy_binary, tmp_path))
        while not started and not starting.done():
            await asyncio.sleep(0.01)
        starting.cancel()
        await asyncio.wait([starting])
        assert starting.cancelled() and started[0].ended

    asyncio.run(work())


def test_without_the_program(tmp_path: Path) -> None:
    with pytest.raises(NoShadow, match="nosuch is not found, or may not be executed"):
        asyncio.run(start(document(tmp_path), "nosuch", tmp_path))
