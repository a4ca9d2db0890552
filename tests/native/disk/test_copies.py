"""A copy is whole, and as closed as what it is a copy of."""

import os
import stat
from pathlib import Path

import pytest

from haproxy_native.disk.copies import mode_like, write_copy


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("original", "copy"), [(0o640, 0o640), (0o600, 0o600), (0o755, 0o644)])
def test_a_copy_has_the_mode_of_the_original(tmp_path: Path, original: int, copy: int) -> None:
    (tmp_path / "a").write_text("secret")
    (tmp_path / "a").chmod(original)
    write_copy(tmp_path / "b", b"secret", tmp_path / "a")
    assert (tmp_path / "b").read_bytes() == b"secret"
    assert mode(tmp_path / "b") == copy == mode_like(tmp_path / "a")


def test_without_an_original_it_is_private(tmp_path: Path) -> None:
    write_copy(tmp_path / "b", b"x", tmp_path / "none")
    write_copy(tmp_path / "c", b"x", durable=False)
    assert mode(tmp_path / "b") == mode(tmp_path / "c") == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")
def test_a_copy_belongs_to_whom_the_original_does(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    os.chown(tmp_path / "a", 65534, 12)
    write_copy(tmp_path / "b", b"x", tmp_path / "a")
    assert ((tmp_path / "b").stat().st_uid, (tmp_path / "b").stat().st_gid) == (65534, 12)


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError):
        write_copy(tmp_path / "b", b"x")
    assert os.listdir(tmp_path) == ["b"]
