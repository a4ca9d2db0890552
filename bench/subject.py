"""Start, query, measure and stop one measured server."""

import shlex
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from bench.connection import Connection, Refused
from demo.children import start, stop

SECONDS_TO_START = 120.0
CONFIGURATION = "/v3/services/haproxy/configuration"


@dataclass(frozen=True)
class Subject:
    """A running process and the connection to it; `seconds_to_start` from its start to its first answer."""

    process: subprocess.Popen[bytes]
    connection: Connection
    port: int
    seconds_to_start: float

    def version(self) -> int:
        return int(self.connection.ask("GET", f"{CONFIGURATION}/version").json())

    def memory(self) -> float:
        """MiB that the process and its descendants have resident."""
        return sum(resident(pid) for pid in family(self.process.pid))


@contextmanager
def running(command: str, port: int, directory: Path, path: str = f"{CONFIGURATION}/version") -> Iterator[Subject]:
    """Starts a command and waits for its first answer to `path`."""
    begin = time.perf_counter()
    process = start(shlex.split(command), directory / "server.log")
    try:
        connection = _first_answer(process, port, path, directory / "server.log")
        with connection:
            yield Subject(process, connection, port, time.perf_counter() - begin)
    finally:
        stop(process)


def _first_answer(process: subprocess.Popen[bytes], port: int, path: str, log: Path) -> Connection:
    deadline = time.monotonic() + SECONDS_TO_START
    while time.monotonic() < deadline and process.poll() is None:
        try:
            connection = Connection(port)
            connection.ask("GET", path)
            return connection
        except (TimeoutError, ConnectionError, Refused):
            time.sleep(0.001)
    raise SystemExit(f"{process.args!r} does not answer:\n{log.read_text()[-2000:]}")


def family(pid: int) -> list[int]:
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *(descendant for child in children for descendant in family(int(child)))]


def resident(pid: int) -> float:
    status = Path(f"/proc/{pid}/status").read_text()
    return int(status.partition("VmRSS:")[2].split()[0]) / 1024
