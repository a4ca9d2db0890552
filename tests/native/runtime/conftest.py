"""A HAProxy of each supported version with one server of every kind that the Runtime API treats differently."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.haproxy.process import HAProxy, free_port

CONFIG = """global
  stats socket {stats} mode 600 level admin
defaults base
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
frontend web from base
  bind 127.0.0.1:PORT
  maxconn 100
  http-request set-var(txn.x) str(),map(MAP)
  default_backend app
backend app from base
  server plain 127.0.0.1:1 weight 10 maxconn 20
  server checked 127.0.0.1:2 check inter 1h
  server agent 127.0.0.1:3 agent-check agent-port 9 agent-inter 1h
  server off 127.0.0.1:4 disabled
  server tracking 127.0.0.1:5 track app/checked
backend static from base
  balance static-rr
  server one 127.0.0.1:1
backend referring from base
  use-server kept if TRUE
  server kept 127.0.0.1:1
"""


@pytest.fixture
def haproxy(tmp_path: Path, haproxy_binaries: str) -> Iterator[HAProxy]:
    (tmp_path / "a.map").touch()
    config = CONFIG.replace("PORT", str(free_port())).replace("MAP", str(tmp_path / "a.map"))
    with HAProxy(tmp_path, config, binary=haproxy_binaries) as haproxy:
        yield haproxy
