"""Databases that a test has opened are closed when it ends: those of parts whose end the test leaves out."""

import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest


@pytest.fixture(autouse=True)
def closed_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For the conftest.py of a directory."""
    opened, connect = list[sqlite3.Connection](), sqlite3.connect

    def remembering(*given: Any, **named: Any) -> sqlite3.Connection:
        opened.append(connect(*given, **named))
        return opened[-1]

    monkeypatch.setattr(sqlite3, "connect", remembering)
    yield
    for database in opened:
        database.close()
