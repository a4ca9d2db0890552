"""Read the configuration that a HAProxy process has in effect from its socket. Two processes with the same file must show the same.

Values that depend on time (counters, results of checks) and numbers that a process assigns are left out (docs/decisions/0089).
"""

import contextlib
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from haproxy_native.runtime import responses as answers
from haproxy_native.runtime.server_state import CONFIGURED_MAINT, ENABLED, ServerState, server_states
from tests.haproxy.process import ask

PAUSED = 0x08
STATE = ("address", "fqdn", "port", "uweight", "use_ssl", "srvrecord", "forced_id", "operational", "forced_state")
# Columns of `show stat` that depend only on the configuration.
COLUMNS = (
    "status", "weight", "uweight", "act", "bck", "slim", "qlimit", "rate_lim", "tracked", "type", "mode", "algo", "cookie", "addr",
    "check_rise", "check_fall", "agent_rise", "agent_fall",
)  # fmt: skip
FIELDS = dict[str, object]


def effective(send: Callable[[str], str]) -> FIELDS:
    """Return every field by its name, such as `app/s1 weight`."""
    found: FIELDS = {"backends": sorted(send("show backend").split())}
    for row in server_states(send("show servers state")):
        found |= {f"{row.backend_name}/{row.name} {name}": value for name, value in _state(row)}
    for row in answers.table(send("show stat")):
        path = f"{row['pxname']}/{row['svname']}"
        # An added server gets its effective weight when it leaves maintenance.
        found |= {f"{path} {name}": row.get(name, "") for name in COLUMNS if name != "weight" or not row["status"].startswith("MAINT")}
    names, *rows = (line.split() for line in send("show servers conn").splitlines() if line)
    for row in rows:
        found |= {f"{row[0]} {name}": row[names.index(name) - 1] for name in ("purge_delay", "idle_lim")}
    return found


def _state(row: ServerState) -> Iterator[tuple[str, object]]:
    yield from ((name, getattr(row, name)) for name in STATE)
    yield "admin", row.admin & ~CONFIGURED_MAINT
    yield "check", _check(row.check_state)
    yield "agent", _check(row.agent_state)
    # The address of a check matters only if the check is enabled.
    if row.check_enabled:
        yield "check to", (row.check_addr, row.check_port)
    if row.agent_enabled:
        yield "agent to", (row.agent_addr, row.agent_port)
        # An agent answers with a percentage of this weight.
        yield "initial weight", row.iweight


def _check(state: int) -> str:
    return "off" if not state & ENABLED else "paused" if state & PAUSED else "on"


@contextlib.contextmanager
def fresh(directory: Path, binary: str, text: str) -> Iterator[Callable[[str], str]]:
    """Start a process with a configuration, and yield a function that sends it commands. `{stats}` in `text` stands for its socket."""
    directory.mkdir(exist_ok=True)
    file, socket, log = directory / "fresh.cfg", directory / "fresh.sock", directory / "fresh.log"
    file.write_text(text.replace("{stats}", str(socket)))
    socket.unlink(missing_ok=True)
    with (
        log.open("wb") as output,
        subprocess.Popen([binary, "-db", "-f", str(file)], stdout=output, stderr=output, cwd=directory) as process,
    ):
        try:
            deadline = time.monotonic() + 120
            while not _answers(socket):
                assert process.poll() is None and time.monotonic() < deadline, log.read_text()
                time.sleep(0.01)
            yield lambda command: ask(socket, command)
        finally:
            process.kill()


def _answers(socket: Path) -> bool:
    with contextlib.suppress(OSError):
        return "Pid:" in ask(socket, "show info")
    return False


def differences(one: FIELDS, other: FIELDS) -> list[str]:
    return [
        f"{name}: live {one.get(name, 'nothing')!r}, fresh {other.get(name, 'nothing')!r}"
        for name in sorted({**one, **other})
        if one.get(name) != other.get(name)
    ]
