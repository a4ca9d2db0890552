"""state.db and keys.db, and the answers to a disk that is full, read-only or damaged."""

import asyncio
import os
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from haproxy_native.disk.database import KEYS, STATE, Database, State, Tables
from haproxy_native.errors import Unusable
from tests.acceptance import mounts
from tests.databases import connected
from tests.until import until

TABLES = (Tables("test", "CREATE TABLE word (word TEXT NOT NULL)"), Tables("test", "CREATE TABLE secret (word TEXT)", are_keys=True))


@contextmanager
def opened(directory: Path) -> Iterator[Database]:
    database = Database(directory)
    database.declare(*TABLES)
    try:
        yield database
    finally:
        database.close()


def add(word: str, state: State) -> None:
    with state.transaction():
        state.execute("INSERT INTO word VALUES (?)", (word,))


def words(state: State) -> list[str]:
    return [word for (word,) in state.execute("SELECT word FROM word ORDER BY rowid")]


def test_what_was_written_is_read_by_the_next_process(tmp_path: Path) -> None:
    with opened(tmp_path / "state") as database:
        database.read(lambda state: add("a", state))
        database.post(lambda state: add("b", state))
        assert asyncio.run(database.run(words)) == ["a", "b"], "in the order in which it was submitted"
    assert sorted(os.listdir(tmp_path / "state")) == [KEYS, STATE]
    with opened(tmp_path / "state") as database:
        assert database.read(words) == ["a", "b"]
    with pytest.raises(Unusable, match="is closed"):
        database.read(words)


def test_nobody_else_reads_it(tmp_path: Path) -> None:
    for _ in range(2):
        with opened(tmp_path / "state") as database:
            database.read(lambda state: add("a", state))
            assert {path.stat().st_mode & 0o777 for path in (tmp_path / "state").iterdir()} == {0o600}
        # As a copy that was put back may be.
        (tmp_path / "state" / STATE).chmod(0o644)
    assert (tmp_path / "state").stat().st_mode & 0o777 == 0o700


def test_a_transaction_that_fails_is_undone(tmp_path: Path) -> None:
    def half(state: State) -> None:
        with state.transaction():
            state.execute("INSERT INTO word VALUES ('a')")
            state.execute("INSERT INTO missing VALUES ('a')")

    with opened(tmp_path) as database:
        with pytest.raises(Unusable, match="no such table"):
            database.read(half)
        assert database.read(words) == []


def test_room_of_deleted_rows_is_returned(tmp_path: Path) -> None:
    def large(state: State) -> None:
        with state.transaction():
            state.execute("INSERT INTO word VALUES (?)", ("a" * 4_000_000,))

    def small(state: State) -> None:
        with state.transaction():
            state.execute("DELETE FROM word")
        state.release_room()

    for work, most in ((large, 5_000_000), (small, 100_000)):
        with opened(tmp_path) as database:
            database.read(work)
        assert most / 5 < (tmp_path / STATE).stat().st_size < most


def test_a_part_that_is_declared_later(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        database.read(words)
        database.declare(Tables("more", "CREATE TABLE more (word TEXT)"))
        database.read(lambda state: state.execute("SELECT * FROM more"))


def test_tables_of_another_version(tmp_path: Path) -> None:
    with opened(tmp_path) as database:
        database.read(words)
    later = Database(tmp_path)
    later.declare(Tables("test", "", version=2))
    with pytest.raises(Unusable, match="its tables of test are of version 1; this program has version 2"):
        later.read(words)
    later.close()


def test_a_post_that_fails_is_written_before_all_that_comes_later(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "state").write_text("no directory")
    with opened(tmp_path / "state") as database:
        for word in ("a", "b"):
            database.post(lambda state, word=word: add(word, state))
        with pytest.raises(Unusable, match=r"the database .*state\.db cannot be used: File exists"):
            database.read(words)
        assert "2 writes wait in memory" in caplog.text
        (tmp_path / "state").unlink()
        assert database.read(words) == ["a", "b"]


def test_what_is_stored_does_not_overtake_what_waits(tmp_path: Path) -> None:
    """Which would overwrite it; what is read does."""
    with opened(tmp_path) as database:
        is_full = True

        def post(state: State) -> None:
            if is_full:
                raise sqlite3.OperationalError("database or disk is full")
            add("posted", state)

        database.post(post)
        with pytest.raises(Unusable, match="is full"):
            asyncio.run(database.store(lambda state: add("stored", state)))
        assert asyncio.run(database.run(words)) == []
        is_full = False
        asyncio.run(database.store(lambda state: add("stored", state)))
        assert database.read(words) == ["posted", "stored"]


def test_what_waits_is_tried_again_by_itself(tmp_path: Path) -> None:
    (tmp_path / "state").write_text("no directory")
    with opened(tmp_path / "state") as database:
        assert asyncio.run(database.write(lambda state: add("a", state) or 7)) is None
        with pytest.raises(Unusable, match="File exists"):
            asyncio.run(database.catch_up())
        assert database.backlog.startswith("1 writes wait in memory: the database")
        (tmp_path / "state").unlink()
        until(lambda: not database.backlog)
        assert asyncio.run(database.write(lambda state: add("b", state) or 7)) == 7
        with connected(tmp_path / "state" / STATE) as other:
            assert other.execute("SELECT word FROM word").fetchall() == [("a",), ("b",)]


def test_a_post_that_is_a_mistake_costs_itself_alone(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    with opened(tmp_path) as database:
        database.post(lambda state: 1 // 0)
        database.post(lambda state: state.execute("INSERT INTO word VALUES (NULL)"))
        database.post(lambda state: state.execute("INSERT INTO word VALUES (?)"))
        database.post(lambda state: add("a", state))
        assert database.read(words) == ["a"]
        assert all(error in caplog.text for error in ("ZeroDivisionError", "IntegrityError", "ProgrammingError"))


def test_a_write_that_does_not_wait_is_refused_for_a_mistake(tmp_path: Path) -> None:
    def mistake(state: State) -> None:
        raise ValueError("no value")

    with opened(tmp_path) as database:
        assert asyncio.run(database.write(mistake)) is None
        with pytest.raises(Unusable, match=r"a write to .*state\.db failed: ValueError\('no value'\)"):
            asyncio.run(database.write(mistake, waits=False))
        database.read(lambda state: add("a", state))
        assert database.read(words) == ["a"]


@pytest.mark.parametrize("name", [STATE, KEYS])
def test_a_damaged_database_is_moved_aside(tmp_path: Path, name: str) -> None:
    (tmp_path / "state").mkdir()
    (tmp_path / "state" / name).write_bytes(b"no database" * 1000)
    with opened(tmp_path / "state") as database:
        with pytest.raises(Unusable, match="file is not a database; restore a backup of its directory, or move that directory away"):
            database.read(words)
        (tmp_path / "state").rename(tmp_path / "damaged")
        assert database.read(words) == []


def test_the_log_of_the_database_stays_small(tmp_path: Path) -> None:
    """Although what waits for a transaction does not wait for what empties it."""
    with opened(tmp_path) as database:
        sizes = []
        for _ in range(300):
            database.read(lambda state: add("a" * 10_000, state))
            sizes.append((tmp_path / f"{STATE}-wal").stat().st_size)
        assert max(sizes[150:]) == max(sizes[:150]) < 1 << 23


def test_a_kill_costs_nothing_that_was_answered(tmp_path: Path) -> None:
    code = f"""
from pathlib import Path
from haproxy_native.disk.database import Database
from tests.native.disk.test_database import TABLES, add
database = Database(Path({str(tmp_path)!r}))
database.declare(*TABLES)
for number in range(1000):
    database.post(lambda state: add(f"posted {{number}}", state))
    database.read(lambda state: add(f"answered {{number}}", state))
    print(number, flush=True)
"""
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        for _ in range(20):
            last = int(process.stdout.readline())
        process.send_signal(signal.SIGKILL)
    with opened(tmp_path) as database:
        found = database.read(words)
    assert found[:40] == [f"{what} {number}" for number in range(last + 1) for what in ("posted", "answered")]


@pytest.mark.mounts
@pytest.mark.parametrize("spoil", ["full", "read-only"])
def test_a_start_on_a_disk_that_takes_no_writes(tmp_path: Path, spoil: str, caplog: pytest.LogCaptureFixture) -> None:
    """Also of what a killed process has left in the log; and without a restart it is written once the disk takes writes again."""
    mounts.memory(tmp_path, 4096)
    code = "import os; from pathlib import Path; from tests.native.disk.test_database import *\n"
    code += f"with opened(Path({str(tmp_path / 'state')!r})) as database: database.read(lambda state: add('a', state)); os._exit(0)"
    subprocess.run([sys.executable, "-c", code], check=True)
    (tmp_path / "state" / f"{STATE}-shm").unlink()
    ballast = None
    if spoil == "full":
        ballast = mounts.fill(tmp_path, 0)
    else:
        mounts.remount(tmp_path, "ro")
    with opened(tmp_path / "state") as database:
        assert database.read(words) == ["a"] and "is read from a copy" in caplog.text
        remedy = "make room on that disk" if ballast else "mount it writable"
        for _ in range(2):
            with pytest.raises(Unusable, match=remedy):
                database.read(lambda state: add("b", state))
            with pytest.raises(Unusable, match=remedy):
                asyncio.run(database.write(lambda state: add("b", state), waits=False))
            assert database.read(words) == ["a"]
        if ballast:
            ballast.unlink()
        else:
            mounts.remount(tmp_path, "rw")
        database.read(lambda state: add("b", state))
    with connected(tmp_path / "state" / STATE) as other:
        assert other.execute("SELECT count(*) FROM word").fetchone() == (2,)


@pytest.mark.mounts
def test_a_disk_that_becomes_full(tmp_path: Path) -> None:
    mounts.memory(tmp_path, 4096)
    with opened(tmp_path / "state") as database:
        database.read(lambda state: add("a", state))
        ballast = mounts.fill(tmp_path, 0)
        with suppress(Unusable):
            while True:
                database.read(lambda state: add("b" * 10_000, state))
        with pytest.raises(Unusable, match="make room on that disk"):
            database.read(lambda state: add("b" * 10_000, state))
        there = database.read(words)
        database.post(lambda state: add("c" * 1_000_000, state))
        assert database.read(words) == there
        ballast.unlink()
        assert database.read(words) == [*there, "c" * 1_000_000]
