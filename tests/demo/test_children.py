"""End children with their parent, even if it is killed."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from demo.children import start, stop

PARENT = """
import sys, time
from pathlib import Path
from demo.children import start
print(start(["sleep", "600"], Path(sys.argv[1])).pid, flush=True)
time.sleep(600)
"""

DEAF = "import signal, time; signal.signal(15, signal.SIG_IGN); print('deaf', flush=True); time.sleep(600)"


def is_alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):  # The second case: the process ended after the file was opened.
        return False


@pytest.mark.parametrize("end", [signal.SIGKILL, signal.SIGTERM])
def test_child_ends_with_its_parent(end: int, tmp_path: Path) -> None:
    parent = subprocess.Popen([sys.executable, "-c", PARENT, str(tmp_path / "log")], stdout=subprocess.PIPE, text=True)
    assert parent.stdout
    child = int(parent.stdout.readline())
    assert is_alive(child)
    parent.send_signal(end)
    parent.communicate()
    deadline = time.monotonic() + 120
    while is_alive(child) and time.monotonic() < deadline:
        time.sleep(0.01)
    assert not is_alive(child)


def test_child_hears_no_ctrl_c(tmp_path: Path) -> None:
    child = start(["sleep", "600"], tmp_path / "log")
    assert os.getpgid(child.pid) != os.getpgrp()
    stop(child)


def test_stop_insists(tmp_path: Path) -> None:
    child = start([sys.executable, "-c", DEAF], tmp_path / "log")
    while not (tmp_path / "log").read_text():
        time.sleep(0.01)
    stop(child, seconds=0.1)
    assert child.returncode == -signal.SIGKILL
    stop(child)
