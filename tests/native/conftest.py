"""A HAProxy that serves two sections, for the engine's tests; a directory that other users reach."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.databases import closed_databases
from tests.haproxy.process import HAProxy, free_port
from tests.native.engines import CONFIG

__all__ = ["closed_databases", "haproxy", "public_path"]


@pytest.fixture
def haproxy(tmp_path: Path, haproxy_binary: str) -> Iterator[HAProxy]:
    with HAProxy(tmp_path, CONFIG % free_port(), binary=haproxy_binary) as haproxy:
        yield haproxy


@pytest.fixture
def public_path() -> Iterator[Path]:
    """An empty directory that other users reach: each pytest that starts closes the one that holds `tmp_path` to them."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
