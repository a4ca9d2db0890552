"""Start child processes that never outlive their parent, even if it is killed."""

import ctypes
import os
import signal
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Protocol

_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


class Child(Protocol):
    """As much of `subprocess.Popen` as `stop` needs."""

    @property
    def pid(self) -> int: ...

    def poll(self) -> int | None: ...

    def wait(self, timeout: float | None = None) -> int: ...

    def kill(self) -> None: ...


def die_with_parent() -> None:
    """Asks the kernel to send this process SIGTERM when its parent ends; survives exec."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    """A child in a session of its own, so that Ctrl-C reaches the parent alone; its output goes to a file."""
    parent = os.getpid()

    def prepare() -> None:
        die_with_parent()
        if os.getppid() != parent:
            os._exit(1)

    with log.open("ab") as output:
        return subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=output, stderr=output, start_new_session=True, preexec_fn=prepare
        )  # fmt: skip


def stop(child: Child, seconds: float = 5.0) -> None:
    """Ends a child with all that it started, and waits for it; again is harmless."""
    if child.poll() is None:
        os.killpg(child.pid, signal.SIGTERM)
        try:
            child.wait(seconds)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
