"""Fixtures for tests of the library: a HAProxy with the configuration of engines.py, and a directory that other users can read."""

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
    """Return an empty directory that other users can enter. They cannot enter `tmp_path`, because pytest protects the directory above."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)
