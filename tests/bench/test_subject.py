"""Measure a server from its first answer, with all its processes, and end it."""

import os
import sys
import time
from pathlib import Path

import pytest

from bench.subject import family, resident, running
from tests.demo.test_children import is_alive
from tests.haproxy.process import free_port

UVICORN = f"{sys.executable} -m uvicorn --no-access-log bench.fixed:app --port"


def test_it_is_measured_and_gone_afterwards(tmp_path: Path) -> None:
    port = free_port()
    with running(f"sh -c '{UVICORN} {port}; true'", port, tmp_path, "/") as subject:
        processes = family(subject.process.pid)
        assert len(processes) == 2
        assert subject.memory() > resident(subject.process.pid) + 10
        assert subject.seconds_to_start > 0
    deadline = time.monotonic() + 120
    while any(map(is_alive, processes)) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not any(map(is_alive, processes))


def test_one_that_ends_says_why(tmp_path: Path) -> None:
    with pytest.raises(SystemExit, match="no such option"), running("sh -c 'echo no such option'", free_port(), tmp_path):
        pass


def test_resident_is_in_mebibytes() -> None:
    assert 5 < resident(os.getpid()) < 4096
