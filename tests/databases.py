"""Databases in tests: one is damaged, and those that a test leaves open are closed when it ends."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.disk.database import STATE, Connection, Database


async def damage(database: Database) -> None:
    """Puts something else in the place of state.db, which is opened for the next work."""
    await database.run(lambda state: state.close())
    database._state = None
    (database.directory / STATE).write_bytes(b"no database" * 1000)


@pytest.fixture(autouse=True)
def closed_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For the conftest.py of a directory."""
    opened, begin = list[Connection](), Connection.__init__

    def remembering(connection: Connection, path: Path) -> None:
        begin(connection, path)
        opened.append(connection)

    monkeypatch.setattr(Connection, "__init__", remembering)
    yield
    for connection in opened:
        connection.close()
