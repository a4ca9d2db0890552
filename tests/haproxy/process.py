"""Run a real HAProxy, with master and worker, in its own directory.

`with HAProxy(tmp_path, CONFIG) as haproxy:` writes the file, starts HAProxy and waits until it answers. The end of the context stops it.
HAProxy also ends with the thread that started it, so that a killed test run leaves no process behind.
"""

import contextlib
import ctypes
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
# The path of a socket has at most 107 bytes, and HAProxy first binds to `<path>.<pid>.tmp`.
LONGEST_SOCKET_PATH = 90
_libc = ctypes.CDLL(None)
# A small configuration for tests that need only a running process.
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
# The locks of the ports that were returned last. Until HAProxy listens on a port, no other process of tests may choose it.
_locked: deque[int] = deque()
MOST_LOCKED = 200
# Not seeded, so that two processes of tests choose different ports.
_chance = random.SystemRandom()


def free_port() -> int:
    """Return a TCP port of 127.0.0.1 that nobody listens on, and that the kernel does not give to connections. Returns each port once."""
    ephemeral = int(Path("/proc/sys/net/ipv4/ip_local_port_range").read_text().split()[0])
    while True:
        port = _chance.randrange(10240, max(ephemeral, 20480))
        if port not in _given and _lock(port):
            _given.add(port)
            with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
                return port


def _lock(port: int) -> bool:
    """Lock a port by an abstract Unix address, which has the scope of ports: all users and roots of a network namespace."""
    with socket.socket(socket.AF_UNIX) as lock:
        try:
            lock.bind(f"\0dataplane-test-port-{port}")
        except OSError:
            return False
        _locked.append(lock.detach())
    if len(_locked) > MOST_LOCKED:
        os.close(_locked.popleft())
    return True


def ask(path: Path | str, command: str, timeout: float = 60.0) -> str:
    """Send a command to a socket, and return the answer."""
    with socket.socket(socket.AF_UNIX) as connection:
        connection.settimeout(timeout)
        connection.connect(str(path))
        connection.sendall(command.encode() + b"\n")
        parts = [connection.recv(65536)]
        # After `NO_PROCESS` the master leaves the connection open. It may forget a connection that the client has half-closed.
        if not NO_PROCESS.match(parts[0]):
            # The master (2.6 at least) otherwise waits for another command.
            connection.shutdown(socket.SHUT_WR)
            while part := connection.recv(65536):
                parts.append(part)
    return b"".join(parts).decode()


class HAProxy:
    """A HAProxy. `stats` and `master` are the paths of its sockets; `{stats}` in the configuration is replaced by the first.

    Without `{stats}` in the configuration, there is no stats socket; with `master=False`, no master socket.
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
        """Return the pid of the master."""
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
        """End the master and its workers. May be called again."""
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
        """Kill master and workers at once, as the kernel does without memory. `start` starts a new HAProxy."""
        assert self._process
        workers = self._workers()
        self._process.kill()
        self._process.wait()
        for pid in workers:
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)

    def _workers(self) -> list[int]:
        """Return the pids of the master's children."""
        return [int(pid) for pid in Path(f"/proc/{self.pid}/task/{self.pid}/children").read_text().split()]

    def ask(self, command: str, timeout: float = 60.0) -> str:
        """Send a command to the worker through the available socket, and return the answer."""
        try:
            if self._has_stats:
                return ask(self.stats, command, timeout)
        except ConnectionRefusedError:
            # After two failed reloads in a row, nobody listens on the stats socket (3.2 at least).
            if not self.master:
                raise
        return ask(self._master(), f"@1 {command}", timeout)

    def ask_master(self, command: str, timeout: float = 60.0) -> str:
        return ask(self._master(), command, timeout)

    def worker_pid(self) -> int:
        """Return the pid of the worker that answers. Shortly after a reload, the former worker may answer on the same socket."""
        match = re.search(r"^Pid: (\d+)", self.ask("show info"), re.MULTILINE)
        assert match
        return int(match[1])

    def newest_worker(self) -> int:
        """Return the pid of the worker that was started last."""
        return max(self._workers(), key=_started)

    def _master(self) -> Path:
        assert self.master, "started without a master socket"
        return self.master

    def _answers(self) -> bool:
        if not self._has_stats and not self.master:
            return "Loading success" in self.log.read_text() or "Starting" in self.log.read_text()
        try:
            # The master answers later than its worker: up to 2.6, it executes itself again after it has started the worker.
            # A connection that is opened too early may never get an answer.
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
    """Return the private memory of a process in KiB."""
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text()
    return sum(int(size) for size in re.findall(r"^Private_\w+:\s+(\d+) kB", rollup, re.MULTILINE))


def _started(pid: int) -> int:
    """Return the clock ticks from the boot of the machine to the start of a process (proc(5), `stat`); -1 if the process has ended."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (FileNotFoundError, ProcessLookupError):
        return -1
