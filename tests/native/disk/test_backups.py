"""Backups are complete, few, and found by version."""

import os
from pathlib import Path

import pytest

from haproxy_native.disk.backups import Backups
from haproxy_native.errors import Missing, Unreadable


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "haproxy.cfg"
    path.write_text("x")
    path.chmod(0o640)
    return path


def names(directory: Path) -> list[str]:
    return sorted(path.name for path in directory.iterdir())


def test_the_newest_are_kept(file: Path, tmp_path: Path) -> None:
    backups = Backups(file, 2, tmp_path / "deep" / "backups")
    for version in (1, 2, 5, 6):
        backups.keep(version, b"v%d" % version)
    assert names(backups.directory) == ["haproxy.cfg.5", "haproxy.cfg.6"]
    assert backups.read(5) == b"v5"
    assert backups.directory.stat().st_mode & 0o777 == 0o750
    assert (backups.directory / "haproxy.cfg.5").stat().st_mode & 0o777 == 0o640
    with pytest.raises(Missing, match=r"^missing object: backup file for version 2 does not exist$"):
        backups.read(2)


def test_versions_may_count_backwards(file: Path) -> None:
    backups = Backups(file, 2)
    for time, version in enumerate((500, 501, 1, 2)):
        backups.keep(version, b"")
        os.utime(file.parent / f"haproxy.cfg.{version}", ns=(time, time))
    assert names(file.parent) == ["haproxy.cfg", "haproxy.cfg.1", "haproxy.cfg.2"]


def test_others_files_stay(file: Path) -> None:
    for name in ("haproxy.cfg.old", "haproxy.cfg.lkg", "other.cfg.1", "haproxy.cfg.1.bak", "haproxyXcfg.1"):
        (file.parent / name).touch()
    before = names(file.parent)
    Backups(file, 1).keep(7, b"")
    assert set(names(file.parent)) - set(before) == {"haproxy.cfg.7"}


def test_none_are_kept(file: Path) -> None:
    Backups(file, 0).keep(1, b"")
    assert names(file.parent) == ["haproxy.cfg"]


def test_a_failure_leaves_nothing_behind(file: Path) -> None:
    backups = Backups(file, 1)
    (file.parent / "haproxy.cfg.1").mkdir()
    with pytest.raises(OSError):
        backups.keep(1, b"")
    assert names(file.parent) == ["haproxy.cfg", "haproxy.cfg.1"]
    with pytest.raises(Unreadable):
        backups.read(1)
