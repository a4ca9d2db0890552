"""Run the example controller: it keeps a real HAProxy in step with a directory, and continues after wrong files."""

import json
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from haproxy_native.runtime.server_state import server_states
from tests.haproxy.process import HAProxy
from tests.native.objects.types import types
from tests.rules.sources import CHECKOUT

CONTROLLER = CHECKOUT / "docs" / "examples" / "controller.py"
CONFIG = """\
global
    stats socket {stats} mode 600 level admin
defaults
    mode http
    timeout client 5s
    timeout connect 5s
    timeout server 5s
backend shop
    balance   roundrobin   # stays
    server old 127.0.0.1:1
"""


@pytest.fixture
def process(tmp_path: Path) -> Iterator[HAProxy]:
    (tmp_path / "wanted").mkdir()
    with HAProxy(tmp_path, CONFIG) as haproxy:
        command = [
            sys.executable,
            "-W",
            "error",
            str(CONTROLLER),
            str(tmp_path / "wanted"),
            str(haproxy.file),
            str(haproxy.master),
            haproxy.binary,
        ]
        with (tmp_path / "printed").open("w") as printed:
            controller = subprocess.Popen(command, stdout=printed, stderr=printed)
        yield haproxy
        controller.terminate()
        controller.wait(60)


def want(process: HAProxy, backend: str, text: str) -> None:
    """Write a file outside of the directory, and rename it into the directory, so that the controller never reads half a file."""
    draft = process.directory / "draft"
    draft.write_text(text)
    draft.rename(process.directory / "wanted" / f"{backend}.json")


def servers(process: HAProxy, backend: str) -> dict[str, int]:
    answer = process.ask(f"show servers state {backend}")
    return {row.name: row.weight for row in server_states(answer)} if answer.startswith("1\n") else {}


def wait(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.1)


def printed(process: HAProxy) -> str:
    return (process.directory / "printed").read_text()


def test_backends_follow_the_files(process: HAProxy) -> None:
    want(process, "shop", json.dumps({"a": {"address": "127.0.0.1", "port": 2, "weight": 5}, "b": {"address": "127.0.0.1", "port": 3}}))
    wait(lambda: servers(process, "shop") == {"a": 5, "b": 1})
    want(process, "shop", json.dumps({"a": {"address": "127.0.0.1", "port": 2, "weight": 50}, "b": {"address": "127.0.0.1", "port": 3}}))
    wait(lambda: servers(process, "shop") == {"a": 50, "b": 1})
    wait(lambda: "live" in printed(process))
    want(process, "new", json.dumps({"c": {"address": "127.0.0.1"}}))
    wait(lambda: servers(process, "new") == {"c": 1})
    assert "balance   roundrobin   # stays" in process.file.read_text()


def test_a_wrong_file_is_reported_and_keeps_no_other_from_being_applied(process: HAProxy) -> None:
    want(process, "bad", "{")
    want(process, "odd", json.dumps({"a": {"adress": "127.0.0.1"}}))
    want(process, "shop", json.dumps({"old": {"address": "127.0.0.1", "port": 1, "weight": 9}}))
    wait(lambda: servers(process, "shop") == {"old": 9})
    wait(lambda: "did you mean address?" in printed(process))
    assert "bad.json: " in printed(process)
    assert servers(process, "odd") == {}


def test_it_is_typed() -> None:
    assert types(CONTROLLER) == ""
