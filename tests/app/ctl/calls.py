"""`dataplaneapi ctl` as its users run it, but in the process of the tests; `test_main.py` runs it as a process."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from dataplaneapi.ctl.main import main
from tests.acceptance.quick import PLAIN
from tests.app.command_line import call_main
from tests.haproxy.process import free_port
from tests.haproxy.sidecar import USER

CONFIG = """\
frontend site from plain
    bind 127.0.0.1:{site} name one
    default_backend shop

# the shop
backend shop from plain
    balance roundrobin
    acl own path /own
    http-request deny if own
    server web1 127.0.0.1:1 weight 10
    server web2 127.0.0.1:2 weight 20
"""


def config() -> str:
    return (PLAIN + CONFIG).format(site=free_port())


class Ctl:
    """Calls of a server on a port of 127.0.0.1 as the user of the tests; `home` has its files."""

    def __init__(self, port: int, home: Path, **environment: str) -> None:
        variables = {"URL": f"http://127.0.0.1:{port}", "USER": USER[0], "PASSWORD": USER[1]}
        self.home = home
        self.environment: Mapping[str, str] = {
            **{name: value for name, value in os.environ.items() if not name.startswith("DATAPLANECTL_")},
            **{f"DATAPLANECTL_{name}": value for name, value in variables.items()},
            "XDG_CONFIG_HOME": str(home / "config"),
            "XDG_CACHE_HOME": str(home / "cache"),
            **environment,
        }

    def __call__(self, *words: str, text: str | bytes | None = None, **environment: str) -> subprocess.CompletedProcess[str]:
        return call_main(main, *words, text=text or "", environment={**self.environment, **environment})

    def output(self, *words: str, **more: Any) -> str:
        """What it prints where it succeeds."""
        done = self(*words, **more)
        assert done.returncode == 0, (done.returncode, done.stdout, done.stderr)
        return done.stdout

    def refusal(self, status: int, *words: str, **more: Any) -> str:
        """What it says where it ends with a status."""
        done = self(*words, **more)
        assert done.returncode == status, (done.returncode, done.stdout, done.stderr)
        assert "Traceback" not in done.stderr
        return done.stderr
