"""Sockets taken over from the process's parent, in processes of their own."""

import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest

from tests.app.handover import start

TELL = """
import json, os, sys
from dataplaneapi.host.activation import sockets
from dataplaneapi.settings.table import SettingsError
try:
    result = [(scheme, repr(each.getsockname()), os.get_inheritable(each.fileno())) for scheme, each in sockets(os.environ)]
except SettingsError as error:
    result = str(error)
print(json.dumps([result, sorted(name for name in os.environ if name.startswith("LISTEN_"))]))
"""


@pytest.fixture
def opened(tmp_path: Path) -> Iterator[list[socket.socket]]:
    with ExitStack() as stack:
        tcp = stack.enter_context(socket.create_server(("127.0.0.1", 0)))
        unix = stack.enter_context(socket.socket(socket.AF_UNIX))
        unix.bind(str(tmp_path / "api.sock"))
        unix.listen()
        yield [tcp, unix, stack.enter_context(socket.socket(socket.AF_INET, socket.SOCK_DGRAM))]


def taken_over(sockets: list[socket.socket], **environment: str) -> list[object]:
    process = start([sys.executable, "-c", TELL], sockets, {**os.environ, **environment}, stdout=subprocess.PIPE)
    answer, _ = process.communicate()
    return list(json.loads(answer))


def test_each_by_its_kind_and_name(opened: list[socket.socket], tmp_path: Path) -> None:
    tcp, unix, _ = opened
    address, path = repr(tcp.getsockname()), repr(str(tmp_path / "api.sock"))
    assert taken_over([tcp, unix, tcp], LISTEN_FDNAMES="x:https:https") == [
        [["http", address, False], ["unix", path, False], ["https", address, False]],
        [],
    ]


def test_without_names(opened: list[socket.socket]) -> None:
    assert taken_over(opened[:1], LISTEN_FDNAMES="")[0] == [["http", repr(opened[0].getsockname()), False]]


def test_those_of_another_process_are_not_ours(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"LISTEN_PID": "1", "LISTEN_FDS": "2"}.items():
        monkeypatch.setenv(name, value)
    from dataplaneapi.host.activation import sockets

    assert sockets(os.environ) == []
    assert "LISTEN_FDS" not in os.environ


def test_what_cannot_be_served_is_said(opened: list[socket.socket]) -> None:
    assert taken_over(opened[2:])[0] == "descriptor 3 of the service manager does not listen for streams; use ListenStream="
    assert "descriptor 4 of the service manager" in str(taken_over(opened[:1], LISTEN_FDS="2")[0])
