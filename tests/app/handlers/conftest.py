"""Run the application with a real HAProxy of each supported version, for tests of the running process."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.app.client import Client, settings
from tests.haproxy import binaries
from tests.haproxy.process import HAProxy, free_port

CONFIG = """\
global
  stats socket {{stats}} mode 600 level admin
  node here

defaults base
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s

frontend web from base
  bind 127.0.0.1:{port} name main
  acl nets src -f {nets}
  acl paths path /a /b
  http-request deny if nets paths
  http-request track-sc0 path table counters
  http-request track-sc1 req.hdr(x-key),url_dec table lines
  http-request track-sc2 req.hdr(x-key),bytes(0,4) table bytes
  http-request return status 200
  default_backend app

backend app from base
  balance roundrobin
  server plain 127.0.0.1:1 weight 10
  server checked 127.0.0.1:2 check inter 1h
  server off 127.0.0.1:4 disabled
  server kept 127.0.0.1:5
  use-server kept if TRUE

backend empty from base

backend sticky from base
  balance source
  server one 127.0.0.1:1

backend counters from base
  stick-table type string len 200 size 1k expire 1h store http_req_cnt,http_req_rate(1h),gpc0,gpt0,conn_cur

backend arrays from base
  stick-table type string size 1k expire 1h store gpc(2),gpt(3),gpc_rate(2,10s)

backend lines from base
  stick-table type string len 200 size 1k expire 1h store gpc0

backend bytes from base
  stick-table type binary len 8 size 1k expire 1h store gpc0

backend addresses from base
  stick-table type ip size 1k expire 1h store server_id,gpc0

backend long_addresses from base
  stick-table type ipv6 size 1k expire 1h store gpc0
"""
RUNTIME = "/v3/services/haproxy/runtime"
STATS = "/v3/services/haproxy/stats/native"


@dataclass
class Beside:
    client: Client
    haproxy: HAProxy
    port: int

    @property
    def nets(self) -> Path:
        return self.haproxy.directory / "nets.acl"


@pytest.fixture(scope="module", params=binaries.EACH)
def beside(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Beside]:
    """Run one HAProxy for all tests of a file. A test reverts its changes."""
    with started(tmp_path_factory.mktemp("beside"), request.param) as running:
        yield running


@pytest.fixture(params=binaries.EACH)
def beside_one(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Beside]:
    """Run a HAProxy for a single test, which may leave its changes."""
    with started(tmp_path, request.param) as running:
        yield running


@contextmanager
def started(directory: Path, version: str) -> Iterator[Beside]:
    port, nets = free_port(), directory / "nets.acl"
    nets.write_text("10.0.0.0/8\n192.0.2.1\n")
    haproxy = HAProxy(directory, CONFIG.format(port=port, nets=nets), binary=binaries.exactly(version))
    with haproxy, Client(settings(directory, master_runtime=str(haproxy.master), master_worker_mode=True, reload_delay=1)) as client:
        yield Beside(client, haproxy, port)
