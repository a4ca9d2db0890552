"""What a service manager hears, on a real socket."""

import asyncio
import os
import socket
from collections.abc import Iterator
from pathlib import Path

import pytest

from dataplaneapi.host.notify import Manager, manager


@pytest.fixture(params=["path", "abstract"])
def listening(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, socket.socket]]:
    path = str(tmp_path / "notify") if request.param == "path" else f"@dataplane-test-{os.getpid()}"
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as heard:
        heard.bind(path.replace("@", "\0") if path.startswith("@") else path)
        heard.settimeout(60)
        yield path, heard


def hear(heard: socket.socket) -> dict[str, str]:
    return dict(line.split("=", 1) for line in heard.recv(4096).decode().split("\n"))


def test_its_states(listening: tuple[str, socket.socket]) -> None:
    path, heard = listening
    notified = Manager(path)
    notified.ready("Serving at x")
    notified.reloading()
    notified.ready()
    notified.stopping()
    assert hear(heard) == {"READY": "1", "STATUS": "Serving at x"}
    reloading = hear(heard)
    assert reloading["RELOADING"] == "1"
    assert reloading["MONOTONIC_USEC"].isdigit()
    assert hear(heard) == {"READY": "1", "STATUS": "Serving at x"}
    assert hear(heard)["STOPPING"] == "1"


def test_it_pings_as_long_as_the_loop_turns(listening: tuple[str, socket.socket]) -> None:
    path, heard = listening

    async def watched() -> None:
        task = asyncio.ensure_future(Manager(path, 0.03).keep_watch())
        while (await asyncio.to_thread(hear, heard)) == {"WATCHDOG": "1"} and len(pings) < 3:
            pings.append(1)
        task.cancel()

    pings: list[int] = []
    asyncio.run(watched())
    assert len(pings) == 3


def test_nobody_listens() -> None:
    Manager("/no/such/socket").ready("x")
    Manager().ready("x")
    asyncio.run(Manager().keep_watch())


def test_the_variables_are_taken() -> None:
    environ = {"NOTIFY_SOCKET": "/x", "WATCHDOG_USEC": "30000000", "WATCHDOG_PID": str(os.getpid()), "OTHER": "1"}
    assert manager(environ).watchdog == 30.0
    assert environ == {"OTHER": "1"}
    assert manager({"WATCHDOG_USEC": "30000000", "WATCHDOG_PID": "1"}).watchdog == 0.0
