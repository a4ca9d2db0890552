"""A row of the state of a file, in a database of its own."""

from pathlib import Path

from haproxy_native.commit.current import TABLES, StateRow
from haproxy_native.disk.database import Database


def database_in(directory: Path) -> Database:
    database = Database(directory / "state")
    database.declare(TABLES)
    return database


def row_in(directory: Path) -> StateRow:
    return StateRow(database_in(directory), "haproxy.cfg")
