import errno
import os
import sqlite3
from pathlib import Path

import pytest

from haproxy_native.history import reserve as module
from haproxy_native.history.reserve import KEPT, LEAST, Reserve


def full(message: str = "database or disk is full", code: int = sqlite3.SQLITE_FULL) -> sqlite3.OperationalError:
    error = sqlite3.OperationalError(message)
    error.sqlite_errorcode = code
    return error


def test_room_is_kept_once(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve")
    reserve.keep(0)
    assert (tmp_path / "reserve").stat().st_size == LEAST
    reserve.keep(1000)
    reserve.keep(1)
    status = (tmp_path / "reserve").stat()
    assert (status.st_size, status.st_mode & 0o777) == (LEAST + 1000, 0o600) and status.st_blocks * 512 >= LEAST + 1000


def test_it_makes_way_for_an_entry(tmp_path: Path) -> None:
    reserve, seen = Reserve(tmp_path / "reserve"), []
    reserve.keep(0)

    def add(journal: str, entry: int) -> str:
        seen.append((tmp_path / "reserve").exists())
        if seen[-1]:
            raise full()
        return f"{journal} {entry}"

    assert reserve.make_way("journal", add, 7) == "journal 7"
    assert seen == [True, False]
    reserve.keep(0)
    assert (tmp_path / "reserve").stat().st_size == LEAST
    (tmp_path / "reserve").unlink()
    with pytest.raises(sqlite3.OperationalError):
        reserve.make_way("journal", lambda *_: (_ for _ in ()).throw(full()))


def test_other_errors_leave_it(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve")
    reserve.keep(0)

    def locked(_: object) -> None:
        raise full("database is locked", sqlite3.SQLITE_BUSY)

    with pytest.raises(sqlite3.OperationalError, match="locked"):
        reserve.make_way(None, locked)
    assert (tmp_path / "reserve").stat().st_size == LEAST


def test_what_a_large_entry_took_is_given_back(tmp_path: Path) -> None:
    reserve = Reserve(tmp_path / "reserve")
    reserve.keep(2 * KEPT)
    reserve.make_way(None, lambda _: None)
    assert (tmp_path / "reserve").stat().st_size == KEPT


def test_no_room(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    reserve = Reserve(tmp_path / "reserve")
    reserve.keep(0)

    def fails(*_: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "posix_fallocate", fails)
    with pytest.raises(OSError, match="No space left"):
        reserve.keep(1 << 20)
    assert (tmp_path / "reserve").stat().st_size == LEAST


def test_where_files_cannot_be_allocated_the_free_space_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = []

    def fails(*_: int) -> None:
        raise OSError(errno.EOPNOTSUPP, os.strerror(errno.EOPNOTSUPP))

    monkeypatch.setattr(os, "posix_fallocate", fails)
    monkeypatch.setattr(module.room, "check", lambda path, size: asked.append((path, size)))
    Reserve(tmp_path / "reserve").keep(5)
    assert asked == [(tmp_path, 0), (tmp_path, LEAST + 5)]
