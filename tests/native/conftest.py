"""A HAProxy that serves two sections, for the engine's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG


@pytest.fixture
def haproxy(tmp_path: Path, haproxy_binary: str) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=haproxy_binary) as haproxy:
        yield haproxy
