"""Run HAProxy with web servers, and this server. The configuration has the frontend `site` and one defaults section; tests add the rest."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from tests.acceptance.quick import Quick
from tests.acceptance.web import Web
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

HEAD = """\
global
    stats socket {{stats}} level admin expose-fd listeners
    {settings}

defaults plain
    mode http
    option idle-close-on-response
    timeout connect 2s
    timeout client 60s
    timeout server 60s
    retries 3

frontend site from plain
    bind 127.0.0.1:{site}
"""


# A program that makes the master reload. It is the reload command of the server, which finds only the socket of the worker.
RELOAD = "import socket as s; c = s.socket(s.AF_UNIX); c.connect('{master}'); c.sendall(b'reload\\n'); c.shutdown(s.SHUT_WR); c.recv(1)"


@dataclass
class Farm:
    sidecar: Quick
    web: Web
    url: str

    def reload(self) -> None:
        """Cause a reload by a change of the defaults section, and wait until it has succeeded."""
        version, defaults = self.sidecar.version(), self.sidecar.get("defaults/plain").json()
        answer = self.sidecar.put("defaults/plain", {**defaults, "retries": defaults["retries"] % 3 + 1}, version=version)
        outcome = self.sidecar.reloaded(answer)
        assert outcome["status"] == "succeeded", outcome


Kind = TypeVar("Kind", bound=Farm)


@contextmanager
def farm_of(
    kind: type[Kind], directory: Path, version: str, lines: str, *names: str, settings: str = "", delay: int = 50
) -> Iterator[Kind]:
    """Run a farm with these web servers.

    `lines` continue the frontend, and may add sections; `{name}` in them stands for the port of a web server. `settings` is a line for the
    section `global`. `delay` is the time before a reload, in milliseconds.
    """
    site = free_port()
    with Web(*names) as web:
        config = (HEAD + lines).format(site=site, settings=settings, **web.ports)
        binary = binaries.exactly(version)
        with HAProxy(directory, config, binary=binary) as haproxy:
            command = f'{sys.executable} -c "{RELOAD.format(master=haproxy.master)}"'
            with Quick(haproxy, reload={"reload_cmd": command}, delay=delay) as sidecar:
                yield kind(sidecar, web, f"http://127.0.0.1:{site}")
