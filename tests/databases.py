"""Damage and read databases in tests, and close the databases that a test leaves open."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from haproxy_native.disk.database import KEYS, STATE, Database, SqliteConnection


async def damage(database: Database) -> None:
    """Overwrite state.db. The next use of the database opens the damaged file."""
    await database.run(lambda state: state.close())
    database._state = None
    (database.directory / STATE).write_bytes(b"no database" * 1000)


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """Open a database, in which each statement is committed at once. Close the connection at the end."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        yield database


def stored(directory: Path, table: str) -> str:
    """Return all rows of a table in the state.db of a directory, as text. A running server may have the database open."""
    with connected(directory / STATE) as database:
        return repr(database.execute(f"SELECT * FROM {table}").fetchall())


def former_contents(directory: Path) -> int:
    """Return how many former contents of files are in the keys.db of a directory. A running server may have the database open."""
    with connected(directory / KEYS) as database:
        return int(database.execute("SELECT count(*) FROM former").fetchone()[0])


@pytest.fixture(autouse=True)
def closed_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Close the databases that a test has opened.

    The thread of an open database may hold locks. A process that is forked at that moment would wait for these locks forever. A
    conftest.py that imports this fixture applies it to all tests of its directory.
    """
    made, connections = list[Database](), list[SqliteConnection]()
    make, connect = Database.__init__, SqliteConnection.__init__

    def remembering(database: Database, directory: Path) -> None:
        make(database, directory)
        made.append(database)

    def connecting(connection: SqliteConnection, path: Path) -> None:
        connect(connection, path)
        connections.append(connection)

    monkeypatch.setattr(Database, "__init__", remembering)
    monkeypatch.setattr(SqliteConnection, "__init__", connecting)
    yield
    for database in made:
        database.close()
    for connection in connections:
        connection.close()
