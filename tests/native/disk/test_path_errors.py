"""Owners are shown by name where they have one."""

import errno
import os
import pwd
from pathlib import Path

import pytest

from haproxy_native.disk import path_errors


def test_the_nearest_that_exists(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    me = pwd.getpwuid(os.geteuid()).pw_name
    assert path_errors.described(tmp_path / "none" / "below").startswith(f"{tmp_path} belongs to {me}:")
    assert path_errors.described(tmp_path).endswith(f", mode 0750, and this process runs as {me}")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")
def test_numbers_without_a_name(tmp_path: Path) -> None:
    os.chown(tmp_path, 54321, 54322)
    assert f"{tmp_path} belongs to 54321:54322, " in path_errors.described(tmp_path)


@pytest.mark.parametrize(
    ("number", "said"),
    [
        (errno.EROFS, "no: Read-only file system; mount it writable; of a service's sandbox: name it in ReadWritePaths="),
        (errno.EDQUOT, "no: Disk quota exceeded; make room on that disk"),
        (errno.EIO, "no: Input/output error"),
    ],
)
def test_what_the_operator_can_do(tmp_path: Path, number: int, said: str) -> None:
    assert path_errors.failed("no", OSError(number, os.strerror(number)), tmp_path) == said


def test_rights_that_are_missing(tmp_path: Path) -> None:
    said = path_errors.failed("no", PermissionError(errno.EACCES, "Permission denied"), tmp_path, "give them")
    assert said == f"no: Permission denied; {path_errors.described(tmp_path)}: give them"
