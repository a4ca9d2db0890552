"""The harness itself, on every version there is."""

import os
from pathlib import Path

import pytest

from tests.haproxy import binaries
from tests.haproxy.process import SMALL, HAProxy


@pytest.mark.parametrize("binary", binaries.installed())
def test_it_answers_and_is_gone_afterwards(tmp_path: Path, binary: str) -> None:
    with HAProxy(tmp_path, SMALL, binary=binary) as haproxy:
        assert str(haproxy.worker_pid()) in haproxy.ask_master("show proc")
        worker, sockets = haproxy.worker_pid(), haproxy.stats.parent
    assert not _runs(worker) and not _runs(haproxy.pid)
    assert sockets == tmp_path or not sockets.exists()


@pytest.mark.parametrize("binary", binaries.installed())
def test_without_any_socket_it_waits_for_the_worker(tmp_path: Path, binary: str) -> None:
    with HAProxy(tmp_path, SMALL.replace("  stats socket {stats} mode 600 level admin\n", ""), binary=binary, master=False) as haproxy:
        assert _runs(haproxy.pid)


def test_a_refused_configuration_is_told_with_haproxys_words(tmp_path: Path) -> None:
    with pytest.raises(AssertionError, match="nonsense"), HAProxy(tmp_path, SMALL + "  nonsense\n"):
        pass


def _runs(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True
