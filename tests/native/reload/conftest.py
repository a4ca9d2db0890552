"""A HAProxy of each supported version, with both sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.haproxy.process import HAProxy

CONFIG = """global
  stats socket {stats} mode 600 level admin
defaults
  mode http
  timeout client 5s
  timeout connect 5s
  timeout server 5s
backend app
  server a 127.0.0.1:1
"""


@pytest.fixture
def haproxy(tmp_path: Path, haproxy_binaries: str) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, CONFIG, binary=haproxy_binaries) as haproxy:
        yield haproxy
