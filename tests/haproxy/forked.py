"""Fork servers from a process that has already imported all modules and read the grammar, which takes most of the time of a start.

A forked server runs the `main` of the command. `Forked` has the members of `subprocess.Popen` that tests of a server need.
"""

import atexit
import ctypes
import gc
import json
import os
import pkgutil
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import Any

PR_SET_PDEATHSIG = 1
POLL = 0.005


class Forked:
    def __init__(self, nursery: "Nursery", pid: int) -> None:
        self._nursery, self.pid = nursery, pid
        self.returncode: int | None = None

    def poll(self) -> int | None:
        if self.returncode is None:
            self.returncode = self._nursery.ask({"status": self.pid})
        return self.returncode

    def wait(self, timeout: float | None = None) -> int:
        deadline = None if timeout is None else time.monotonic() + timeout
        while (status := self.poll()) is None:
            if deadline is not None and time.monotonic() > deadline:
                raise subprocess.TimeoutExpired(str(self.pid), timeout or 0)
            time.sleep(POLL)
        return status

    def send_signal(self, number: int) -> None:
        if self.poll() is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, number)

    def terminate(self) -> None:
        self.send_signal(signal.SIGTERM)

    def kill(self) -> None:
        self.send_signal(signal.SIGKILL)


class Nursery:
    """The process that forks. It ends with the process of the tests, and its children end with it."""

    def __init__(self) -> None:
        self._ours, theirs = socket.socketpair()
        self._asking = threading.Lock()
        with theirs:
            words = [sys.executable, __file__, str(theirs.fileno())]
            self._process = subprocess.Popen(words, pass_fds=[theirs.fileno()], stdin=subprocess.DEVNULL)
        self._answers = self._ours.makefile("r")
        atexit.register(self.close)

    def start(self, words: Sequence[str], log: Path, environment: Mapping[str, str] | None = None) -> Forked:
        """Start the command with the arguments `words` in a session of its own. Append its output to `log`.

        Without an `environment`, the command has the environment of the tests.
        """
        variables = dict(os.environ if environment is None else environment)
        return Forked(self, self.ask({"words": list(words), "log": str(log), "environment": variables, "directory": os.getcwd()}))

    def ask(self, request: dict[str, Any]) -> Any:
        with self._asking:
            self._ours.sendall(json.dumps(request).encode() + b"\n")
            return json.loads(self._answers.readline())

    def close(self) -> None:
        self._answers.close()
        self._ours.close()
        self._process.wait()


@cache
def nursery() -> Nursery:
    """Return the nursery of this process of tests."""
    return Nursery()


def _die_with(parent: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)
    if os.getppid() != parent:
        os._exit(1)


def _status(pid: int) -> int | None:
    done, status = os.waitpid(pid, os.WNOHANG)
    return os.waitstatus_to_exitcode(status) if done else None


def _next_server(requests: socket.socket) -> dict[str, Any] | None:
    """Fork a child for each request. Return the request in the child; in the parent, return None when no more requests come."""
    parent = os.getpid()
    with requests, requests.makefile("r") as lines:
        for line in lines:
            request = json.loads(line)
            if "status" in request:
                answer: Any = _status(request["status"])
            elif (answer := os.fork()) == 0:
                _die_with(parent)
                return dict(request)
            requests.sendall(json.dumps(answer).encode() + b"\n")
    return None


def _become(request: dict[str, Any]) -> None:
    os.setsid()
    os.environ.clear()
    os.environ.update(request["environment"])
    os.chdir(request["directory"])
    log = os.open(request["log"], os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o666)
    os.dup2(log, 1)
    os.dup2(log, 2)
    os.close(log)
    sys.argv = [str(Path(sys.executable).with_name("dataplaneapi")), *request["words"]]


def _main(descriptor: int) -> None:
    # The path of the command does not have the directory of this file.
    del sys.path[0]
    import uvicorn.lifespan.off  # noqa: F401

    import dataplaneapi.program  # noqa: F401
    from dataplaneapi import assembly, cli, command, feature_list  # noqa: F401
    from dataplaneapi.host import mworker  # noqa: F401
    from dataplaneapi.settings import yaml_file
    from haproxy_native import models, open_engine
    from haproxy_native.editing import secrets
    from haproxy_native.editing.editor import Editor
    from haproxy_native.text.document import Document

    feature_list.installed()
    assembly.route_index()
    # Loads the modules that read and write a settings file.
    yaml_file._parse("a: 1")
    for module in pkgutil.iter_modules(models.__path__, f"{models.__name__}."):
        import_module(module.name)
    open_engine.stats_sockets(Document.parse("global\n"))
    editor = Editor()
    for resource in editor.resources.by_name.values():
        with suppress(KeyError):
            editor.shape(resource)
    # Every server logs a warning at its start. Masking the warning loads the words that begin lines.
    secrets.masked_text("a warning")
    # A garbage collection in a child would copy all memory that it looks through.
    gc.collect()
    gc.freeze()
    request = _next_server(socket.socket(fileno=descriptor))
    if request:
        _become(request)
        try:
            command.main()
        except SystemExit as ended:
            _exit(ended.code)
        _exit(0)


def _exit(code: Any) -> None:
    """Exit as the interpreter does, but without destroying objects one by one."""
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code if isinstance(code, int) else 1 if code else 0)


if __name__ == "__main__":
    _main(int(sys.argv[1]))
