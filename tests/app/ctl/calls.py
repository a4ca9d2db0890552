"""`dataplaneapi ctl` as its users run it, in a process of its own."""

import os
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tests.acceptance.quick import PLAIN
from tests.haproxy.process import free_port
from tests.haproxy.sidecar import COMMAND, USER

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
        data = text.encode() if isinstance(text, str) else text
        done = subprocess.run(
            [str(COMMAND), "ctl", *words],
            env={**self.environment, **environment},
            input=data,
            stdin=subprocess.DEVNULL if data is None else None,
            capture_output=True,
            check=False,
            timeout=120,
        )
        return subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())

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
