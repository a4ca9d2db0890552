"""A real HAProxy, master and worker, in a directory of its own.

`with HAProxy(tmp_path, CONFIG) as haproxy:` has written the file, started it and waited until it answers; at the end it is
gone. It dies with the thread that started it, so nothing is left behind by a killed test run.
"""

import contextlib
import ctypes
import fcntl
import os
import random
import re
import shutil
import signal
import socket
import subprocess
import tempfile
import time
from collections import deque
from pathlib import Path
from types import TracebackType
from typing import Self

from haproxy_native.runtime.socket import NO_PROCESS
from tests.haproxy import binaries

PR_SET_PDEATHSIG = 1
# A socket's path may have 107 bytes, and HAProxy binds to `<path>.<pid>.tmp` first.
LONGEST_SOCKET_PATH = 90
_libc = ctypes.CDLL(None)
# What is enough for a process that answers.
SMALL = """global
  stats socket {stats} mode 600 level admin
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
backend app
  server a 127.0.0.1:1
"""


_given: set[int] = set()
# The locks of those that were given last. Until HAProxy has bound one, another process that runs tests must not choose it.
_locked: deque[int] = deque()
MOST_LOCKED = 200
_LOCKS = Path("/tmp") / f"dataplane-ports-{os.getuid()}"
# Not seeded, as others may be: two processes must not choose alike.
_chance = random.SystemRandom()


def free_port() -> int:
    """A TCP port of 127.0.0.1 that nobody listens on, given once, and of those that the kernel gives to no connection."""
    ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = _chance.randrange(10240, max(ephemeral, 20480))
        if port not in _given and _lock(port):
            _given.add(port)
            with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
                return port


def _lock(port: int) -> bool:
    _LOCKS.mkdir(exist_ok=True)
    lock = os.open(_LOCKS / str(port), os.O_WRONLY | os.O_CREAT)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        return False
    _locked.append(lock)
    if len(_locked) > MOST_LOCKED:
        os.close(_locked.popleft())
    return True


def ask(path: Path | str, command: str, timeout: float = 60.0) -> str:
    """What a socket answers to one line."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(str(path))
        connection.sendall(command.encode() + b"\n")
        parts = [connection.recv(65536)]
        # A master that refuses a process leaves it to the client to close the connection, and forgets some that are half-closed.
        if not NO_PROCESS.match(parts[0]):
            # Without it the master (2.6 at least) waits for a further command.
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                parts.append(part)
    return b"".join(parts).decode()


class HAProxy:
    """`stats` and `master` are the sockets' paths; `{stats}` in the configuration is replaced by the former.

    A configuration without `{stats}` has no stats socket; `master=False` starts without `-S`.
    """

    def __init__(
        self, directory: Path, config: str, *, binary: str | None = None, master: bool = True, arguments: tuple[str, ...] = ()
    ) -> None:
        self.directory = directory
        self.binary = binary or binaries.newest()
        self.version = binaries.version(self.binary)
        self._sockets = _socket_directory(directory)
        self.stats = self._sockets / "haproxy.sock"
        self.master = self._sockets / "master.sock" if master else None
        self.file = directory / "haproxy.cfg"
        self.log = directory / "haproxy.log"
        self._arguments = arguments
        self._has_stats = "{stats}" in config
        self._process: subprocess.Popen[bytes] | None = None
        self.write(config)

    def write(self, config: str) -> None:
        self.file.write_text(config.replace("{stats}", str(self.stats)))

    @property
    def pid(self) -> int:
        """The master's pid."""
        assert self._process
        return self._process.pid

    @property
    def runs(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def start(self) -> Self:
        master = ("-S", f"{self.master},mode,600") if self.master else ()
        with self.log.open("ab") as log:
            self._process = subprocess.Popen(
                [self.binary, "-W", "-f", str(self.file), *master, *self._arguments],
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                preexec_fn=die_with_parent,
            )
        self.wait_until_it_answers()
        return self

    def wait_until_it_answers(self, seconds: float = 60.0) -> None:
        deadline = time.monotonic() + seconds
        while not self._answers():
            assert self._process and self._process.poll() is None, f"HAProxy ended:\n{self.log.read_text()}"
            assert time.monotonic() < deadline, f"HAProxy does not answer:\n{self.log.read_text()}"
            time.sleep(0.01)

    def stop(self) -> None:
        """At once, with its workers; again is harmless."""
        if self._process and self._process.poll() is None:
            self._process.terminate()
            try:
                self._process.wait(10)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        if self._sockets != self.directory:
            shutil.rmtree(self._sockets, ignore_errors=True)

    def kill(self) -> None:
        """Master and worker at once, as the kernel does when memory is short; `start` makes a new one."""
        assert self._process
        workers = self._workers()
        self._process.kill()
        self._process.wait()
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _workers(self) -> list[int]:
        """The master's children."""
        return [int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    def ask(self, command: str, timeout: float = 60.0) -> str:
        """The worker's answer, through whichever socket there is."""
        try:
            if self._has_stats:
                return ask(self.stats, command, timeout)
        except ConnectionRefusedError:
            # Two failed reloads in a row leave (3.2 at least) a stats socket that nobody listens on.
            if not self.master:
                raise
        return ask(self._master(), f"@1 {command}", timeout)

    def ask_master(self, command: str, timeout: float = 60.0) -> str:
        return ask(self._master(), command, timeout)

    def worker_pid(self) -> int:
        """The pid of the worker that answers now; for a moment after a reload its predecessor may, on the socket that both have."""
        match = re.search(r"^Pid: (\d+)", self.ask("show info"), re.MULTILINE)
        assert match
        return int(match[1])

    def newest_worker(self) -> int:
        """The pid of the worker that was started last."""
        return max(self._workers(), key=_started)

    def _master(self) -> Path:
        assert self.master, "started without a master socket"
        return self.master

    def _answers(self) -> bool:
        if not self._has_stats and not self.master:
            return "Loading success" in self.log.read_text() or "Starting" in self.log.read_text()
        try:
            # The master answers later than its worker: up to 2.6 it executes itself once more in between.
            # A connection that is made too early may get no answer at all.
            return "Pid:" in self.ask("show info", 1.0) and (not self.master or "worker" in self.ask_master("show proc", 1.0))
        except OSError:
            return False

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.stop()
            raise

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self.stop()


def _socket_directory(directory: Path) -> Path:
    if len(str(directory / "haproxy.sock")) <= LONGEST_SOCKET_PATH:
        return directory
    return Path(tempfile.mkdtemp(prefix="haproxy-"))


def die_with_parent() -> None:
    _libc.prctl(PR_SET_PDEATHSIG, signal.SIGTERM, 0, 0, 0)


def private_memory(pid: int) -> int:
    """KiB that only this process has."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+) kB", rollup, re.MULTILINE))


def _started(pid: int) -> int:
    """Clock ticks between the machine's start and that of a process; proc(5), `stat`. -1 if it has ended since it was listed."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return -1
