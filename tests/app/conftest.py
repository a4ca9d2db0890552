"""Fixtures of the server's tests."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.app.client import Client, serving
from tests.databases import closed_databases

__all__ = ["client", "closed_databases"]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """The application with a small configuration, version 1."""
    with serving(tmp_path) as client:
        yield client
