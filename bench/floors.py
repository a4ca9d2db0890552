"""Measure lower bounds for a change or a read on this machine, in the same run as the servers."""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from statistics import median

from bench.connection import flood
from bench.farm import MAP_CHANGES, MAP_ENTRIES, Farm, map_entries
from bench.subject import running
from tests.haproxy.process import ask, free_port

IMPORTS = "import fastapi, pydantic, uvicorn"


def floors(farm: Farm, body: bytes, *, clients: int, seconds: float) -> dict[str, float]:
    """Medians in seconds, MiB and answers a second, by the names that figures.toml uses."""
    check = [farm.haproxy.binary, "-c", "-q", "-f", str(farm.haproxy.file)]
    command = f"set server {'/'.join(farm.server(0))} weight 99"
    return {
        "haproxy -c": timed(lambda: subprocess.run(check, check=True, capture_output=True), 7),
        "import": timed(lambda: subprocess.run([sys.executable, "-c", IMPORTS], check=True), 5),
        "import's memory": memory_of_import(),
        "runtime command": timed(lambda: ask(farm.haproxy.stats, command), 20),
        **(by_hand(farm, command) if shutil.which("socat") else {}),
        **uvicorn_alone(farm.directory, body, clients, seconds),
    }


def timed(action: Callable[[], object], times: int) -> float:
    """Median seconds of some runs."""
    taken = []
    for _ in range(times):
        begin = time.perf_counter()
        action()
        taken.append(time.perf_counter() - begin)
    return median(taken)


def memory_of_import() -> float:
    code = f"{IMPORTS}\nfor line in open('/proc/self/status'):\n    if line.startswith('VmRSS'): print(line.split()[1])"
    return int(subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout) / 1024


def by_hand(farm: Farm, command: str) -> dict[str, float]:
    """The same commands as the rows send, through socat."""
    path = farm.haproxy.stats
    seconds = {
        "socat": timed(lambda: through_socat(path, command), 20),
        "socat, statistics": timed(lambda: through_socat(path, "show stat"), 7),
    }
    if not farm.has_maps:
        return seconds
    return seconds | {
        f"socat, list {MAP_ENTRIES:,} entries": timed(lambda: through_socat(path, f"show map {farm.map}"), 7),
        f"socat, fill {MAP_CHANGES:,} entries": timed(lambda: fill(farm), 3),
    }


def fill(farm: Farm) -> None:
    """Another map, in as few commands as its socket takes."""
    through_socat(farm.haproxy.stats, f"clear map {farm.other_map}")
    for lines in _chunks([f"{key} {value}\n" for key, value in map_entries(MAP_CHANGES)]):
        through_socat(farm.haproxy.stats, f"add map {farm.other_map} <<\n{lines}\n")


def _chunks(lines: list[str], size: int = 8_000) -> Iterator[str]:
    chunk = ""
    for line in lines:
        if len(chunk) + len(line) > size:
            yield chunk
            chunk = ""
        chunk += line
    yield chunk


def through_socat(path: Path, command: str) -> None:
    subprocess.run(["socat", "-t", "60", "-", f"UNIX-CONNECT:{path}"], input=command.encode() + b"\n", check=True, capture_output=True)


def uvicorn_alone(directory: Path, body: bytes, clients: int, seconds: float) -> dict[str, float]:
    port = free_port()
    options = f"--port {port} --http httptools --loop uvloop --no-access-log --log-level warning"
    command = f"env BENCH_BODY='{body.decode()}' {sys.executable} -m uvicorn {options} bench.fixed:app"
    with running(command, port, directory, "/") as subject:
        return {
            "uvicorn": timed(lambda: subject.connection.ask("GET", "/"), 500),
            "uvicorn, readers": flood(port, "/", clients=clients, seconds=seconds),
        }
