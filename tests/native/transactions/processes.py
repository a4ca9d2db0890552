"""The transactions of a file as one process after the other finds them."""

import sqlite3
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path

from haproxy_native.disk.database import KEYS, STATE, Database
from haproxy_native.transactions.store import TABLES
from haproxy_native.transactions.transactions import Transactions

_open: list[Database] = []


def opened(directory: Path, limit: int = 0, *, ttl: float = 0.0, make: bool = True) -> Transactions:
    """Those of `haproxy.cfg` beside a directory, in a process that begins when every earlier one has ended."""
    end()
    database = Database(directory.parent / "state")
    database.declare(*TABLES)
    _open.append(database)
    transactions = Transactions(database, directory, directory.parent / "haproxy.cfg", limit, ttl=ttl, make=make)
    transactions.load()
    return transactions


def end() -> None:
    while _open:
        _open.pop().close()


@contextmanager
def between(directory: Path, name: str = STATE) -> Iterator[sqlite3.Connection]:
    """A database while no process has it open."""
    end()
    with closing(sqlite3.connect(directory.parent / "state" / name)) as connection, connection:
        yield connection


def count(directory: Path, table: str) -> int:
    """The rows of a table after the end of the process."""
    with between(directory, KEYS if table == "staged_file" else STATE) as database:
        return int(database.execute(f"SELECT count(*) FROM {table}").fetchone()[0])
