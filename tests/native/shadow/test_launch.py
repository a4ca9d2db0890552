"""How the HAProxy of a shadow starts, what it gets, and when it does not."""

import asyncio
import os
import socket
import time
from pathlib import Path
from typing import Any

import pytest

from haproxy_native import seccomp
from haproxy_native.check.run import Confinement
from haproxy_native.child import Child
from haproxy_native.errors import NoShadow
from haproxy_native.scratch import Scratch
from haproxy_native.shadow import launch
from haproxy_native.shadow.process import ClientRequest, start
from haproxy_native.text.document import Document

TEXT = """\
frontend site
    mode http
    timeout client 5s
    bind :80
    http-request set-var(txn.named) env(NAMED)
    http-request set-var(txn.other) env(OTHER)
    http-request return status 200
"""
DOCUMENT = Document.parse(TEXT)


def test_it_gets_the_variables_that_the_configuration_in_force_names(haproxy_binaries: str, tmp_path: Path) -> None:
    in_force = tmp_path / "haproxy.cfg"
    in_force.write_text('# "${NAMED}"\n')

    async def run() -> dict[str, str]:
        environ = {**os.environ, "NAMED": "a b", "OTHER": "secret"}
        process = await start(DOCUMENT, haproxy_binaries, tmp_path, [in_force], environ=environ)
        try:
            seen = await process.send_request(ClientRequest(process.shadow.listeners[0], b"GET / HTTP/1.1\r\nHost: a\r\n\r\n"))
            assert seen
            return seen.variables
        finally:
            await process.close()

    assert asyncio.run(run()) == {"txn.named": "a b"}


def test_one_that_nobody_waits_for_is_ended(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[Child] = []

    class Slow(Confinement):
        def start(self, *words: Any, **options: Any) -> Child:
            started.append(child := super().start(*words, **options))
            time.sleep(0.2)
            return child

    async def work() -> None:
        monkeypatch.setattr(launch, "Confinement", Slow)
        starting = asyncio.create_task(start(DOCUMENT, haproxy_binary, tmp_path))
        while not started and not starting.done():
            await asyncio.sleep(0.01)
        starting.cancel()
        await asyncio.wait([starting])
        assert starting.cancelled() and started[0].ended

    asyncio.run(work())


def test_without_the_program(tmp_path: Path) -> None:
    with pytest.raises(NoShadow, match="nosuch is not found, or may not be executed"):
        asyncio.run(start(DOCUMENT, "nosuch", tmp_path))


def test_without_a_filter_none_is_started(haproxy_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(seccomp, "available", lambda: False)
    with pytest.raises(NoShadow, match="a shadow cannot be isolated from the network: there is no filter of system calls for"):
        asyncio.run(start(DOCUMENT, haproxy_binary, tmp_path))


SENDER = """\
import os, socket
servers = socket.socket(fileno=0)
pair = socket.socketpair()
socket.send_fds(servers, [b"FD"], [os.open("/dev/null", os.O_RDONLY)])
socket.send_fds(servers, [b"FD"], [each.fileno() for each in pair])
servers.send(b"FD")
"""


def test_what_is_no_connection(tmp_path: Path) -> None:
    """It keeps no descriptor, and the next one is served."""

    async def run() -> list[str]:
        scratch = Scratch("shadow")
        (scratch.path / "sender.py").write_text(SENDER)
        launched = await launch.launch(["python3", str(scratch.path / "sender.py")], {"PATH": os.environ["PATH"]}, scratch.path, None)
        seen = []
        try:
            async with asyncio.timeout(60):
                while True:
                    try:
                        with await launched.connection() as connection:
                            seen.append(connection.family.name)
                    except ConnectionError:
                        return seen
                    except OSError as error:
                        seen.append(str(error))
        finally:
            await launched.end()
            scratch.remove()

    first, second, third = asyncio.run(run())
    assert "Socket operation on non-socket" in first
    assert (second, third) == (socket.AF_UNIX.name, "its HAProxy has sent no connection")
