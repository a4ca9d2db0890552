"""Databases in tests: one is damaged, and those that a test leaves open are closed when it ends."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from haproxy_native.disk.database import KEYS, STATE, Database, SqliteConnection


async def damage(database: Database) -> None:
    """Puts something else in the place of state.db, which is opened for the next work."""
    await database.run(lambda state: state.close())
    database._state = None
    (database.directory / STATE).write_bytes(b"no database" * 1000)


@contextmanager
def connected(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that is closed at the end; each statement is committed at once."""
    with closing(sqlite3.connect(path, isolation_level=None)) as database:
        yield database


def stored(directory: Path, table: str) -> str:
    """All rows of a table of the state.db in a directory, as a text; a server may use it."""
    with connected(directory / STATE) as database:
        return repr(database.execute(f"SELECT * FROM {table}").fetchall())


def former_contents(directory: Path) -> int:
    """How many files' former contents the ledger has in the keys.db of a directory; a server may use it."""
    with connected(directory / KEYS) as database:
        return int(database.execute("SELECT count(*) FROM former").fetchone()[0])


@pytest.fixture(autouse=True)
def closed_databases(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """For the conftest.py of a directory. A process that is forked while the thread of one works may wait for its locks for ever."""
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
