"""The `os` module with one call that goes wrong: it fails, or the process is killed there."""

import os
import signal
from collections.abc import Callable
from typing import Any

CHANGING = ("open", "write", "fsync", "fchown", "fchmod", "setxattr", "replace", "unlink", "ftruncate", "posix_fallocate", "close")


class FailingSystem:
    """Call number `at` (from 0) of those that change something is answered by `do(name)`; `calls` lists them all."""

    def __init__(self, at: int = -1, do: Callable[[str], None] = lambda name: None, half: bool = False) -> None:
        self.at, self.do, self.half = at, do, half
        self.calls: list[str] = []

    def __getattr__(self, name: str) -> Any:
        real = getattr(os, name)
        return self._watched(name, real) if name in CHANGING else real

    def _watched(self, name: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any) -> Any:
            self.calls.append(name)
            if len(self.calls) - 1 != self.at:
                return real(*arguments)
            if name == "write" and self.half:
                real(arguments[0], arguments[1][: len(arguments[1]) // 2])
            self.do(name)
            return real(*arguments)

        return call


def kill(name: str) -> None:
    os.kill(os.getpid(), signal.SIGKILL)


def fail_with(number: int) -> Callable[[str], None]:
    def fail(name: str) -> None:
        raise OSError(number, os.strerror(number))

    return fail
