"""Fixtures for tests of the server."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from dataplaneapi.api.runtime_call import use_runtime
from tests.app.client import Client, serving
from tests.databases import closed_databases

__all__ = ["client", "closed_databases", "patient", "shared_client"]


@pytest.fixture(autouse=True)
def patient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a call of the Runtime API take up to 60 seconds, because other tests load the machine."""
    monkeypatch.setitem(use_runtime.__wrapped__.__kwdefaults__, "seconds", 60.0)  # type: ignore[attr-defined]


@pytest.fixture
def client(tmp_path: Path) -> Iterator[Client]:
    """Return a client of an application with a small configuration, version 1."""
    with serving(tmp_path) as client:
        yield client


@pytest.fixture(scope="module")
def shared_client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    """Return a client of an application that the tests of one file share. These tests must not change anything."""
    with serving(tmp_path_factory.mktemp("shared")) as client:
        yield client
