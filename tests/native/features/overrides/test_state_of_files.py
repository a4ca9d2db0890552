"""Report values that a worker has read from a server-state file, and that differ from the configuration, with the reload."""

from pathlib import Path

import pytest

from haproxy_native.editing.editor import Editor
from haproxy_native.features.overrides.overrides import Overrides
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy
from tests.native.engines import reload, run, running_engine

CONFIG = """\
global
  stats socket {stats} level admin
  server-state-file %s
  ssl-server-verify none
defaults
  mode http
  timeout connect 1s
  timeout client 1s
  timeout server 1s
  load-server-state-from-file global
backend app
  server plain 127.0.0.1:1 weight 10
  server checked 127.0.0.1:1 weight 10 check inter 1h
  server asked 127.0.0.1:1 agent-check agent-port 8 agent-inter 1h
  server ssl 127.0.0.1:1 ssl
  server named localhost:1
  server-template t 2 127.0.0.1:1
"""
# The server, a column of its line (HAProxy Management Guide, "show servers state"), its value, and the member that then differs.
ROWS = [
    ("plain", 18, "7", "port"),
    ("plain", 7, "3", "weight"),
    ("plain", 6, "1", "maintenance"),
    ("plain", 6, "8", "maintenance"),
    ("plain", 5, "0", "operational_state"),
    ("plain", 5, "3", "operational_state"),
    ("plain", 4, "127.0.0.7", None),
    ("checked", 13, "2", "check"),
    ("checked", 5, "0", None),
    ("asked", 14, "2", "agent-check"),
    ("ssl", 20, "0", "ssl"),
    ("named", 18, "9", "port"),
    ("t1", 18, "9", "port"),
    ("t1", 7, "9", "weight"),
    ("t2", 5, "0", "operational_state"),
]


@pytest.mark.parametrize("version", [*(pytest.param(version, marks=pytest.mark.soak) for version in ("2.6", "3.0")), "3.4"])
def test_what_a_reload_says_of_stale_states(tmp_path: Path, version: str) -> None:
    states = tmp_path / "states"
    with HAProxy(tmp_path, CONFIG % states, binary=binaries.exactly(version)) as haproxy:
        fresh = haproxy.ask("show servers state")

        async def work() -> None:
            async with running_engine(haproxy.directory, haproxy) as engine, Overrides(engine, Editor()):
                for server, column, value, member in ROWS:
                    lines = [line.split(" ") for line in fresh.splitlines()]
                    for line in lines:
                        if server in line[3:4]:
                            line[column] = value
                    states.write_text("".join(" ".join(line) + "\n" for line in lines))
                    told = (await reload(engine)).differences
                    assert [each.split(" ")[0] for each in told] == [member] * (member is not None), (server, column, value, told)

        run(work())
