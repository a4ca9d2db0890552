"""A HAProxy of each supported version, with both sockets."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.haproxy.process import SMALL, HAProxy


@pytest.fixture
def haproxy(tmp_path: Path, haproxy_binaries: str) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, SMALL, binary=haproxy_binaries) as haproxy:
        yield haproxy
