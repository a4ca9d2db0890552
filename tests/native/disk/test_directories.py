"""A directory is made when it is needed; one that cannot be used says which, whose, and what to do."""

import errno
import os
from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.errors import Unusable


def test_it_is_made_with_its_mode(tmp_path: Path) -> None:
    directory = Directory(tmp_path / "a" / "b", "maps_dir", 0o700)
    assert directory.why_unwritable() == ""
    assert not directory.path.parent.exists()
    assert directory.writable() == directory.readable() == tmp_path / "a" / "b"
    assert directory.path.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize("name", ["file", "file/below", "dangling"])
def test_what_is_no_directory(tmp_path: Path, name: str) -> None:
    (tmp_path / "file").write_text("")
    (tmp_path / "dangling").symlink_to("nowhere")
    directory = Directory(tmp_path / name, "maps_dir")
    with pytest.raises(Unusable) as raised:
        directory.writable()
    assert str(raised.value).startswith(f"maps_dir {tmp_path}/{name} cannot be used: ")
    assert " belongs to " in str(raised.value)
    assert str(raised.value).endswith("; remove the file at this path")
    assert directory.why_unwritable()


@pytest.mark.parametrize(
    ("number", "remedy"),
    [
        (errno.ENOSPC, "make room on that disk"),
        (errno.EROFS, "mount it writable; of a service's sandbox: name it in ReadWritePaths="),
        (errno.EACCES, "give it write access to the directory, or let spoe_dir name another one"),
    ],
)
def test_what_goes_wrong_inside(tmp_path: Path, number: int, remedy: str) -> None:
    directory = Directory(tmp_path / "spoe", "spoe_dir")
    with pytest.raises(Unusable) as raised, directory.used() as path:
        raise OSError(number, os.strerror(number), str(path / "x"))
    said = str(raised.value)
    assert said.startswith(
        f"spoe_dir {directory.path} cannot be used: {os.strerror(number)} ({directory.path}/x); {directory.path} belongs"
    )
    assert said.endswith(remedy)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to become another user")
def test_of_another_user(public_path: Path) -> None:
    os.seteuid(65534)
    try:
        directory = Directory(public_path, "maps_dir")
        assert directory.readable() == public_path
        with pytest.raises(Unusable, match="Permission denied; .* belongs to root:root, mode 0755, and this process runs as nobody"):
            directory.writable()
        assert "Permission denied" in Directory(public_path / "new", "maps_dir").why_unwritable()
    finally:
        os.seteuid(0)


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a directory away")
@pytest.mark.parametrize("what", ["directory", "link"])
def test_one_that_is_to_be_own_and_belongs_to_another(tmp_path: Path, what: str) -> None:
    """As /tmp/haproxy, which any user of the machine may have made."""
    (tmp_path / "there").mkdir()
    (tmp_path / "link").symlink_to("there")
    path = tmp_path / ("there" if what == "directory" else "link")
    os.lchown(path, 65534, 65534)
    refused = f"transaction_dir {path} cannot be used: it belongs to another user; .*; give the directory to the user of this process"
    with pytest.raises(Unusable, match=refused):
        Directory(path, "transaction_dir", own=True).readable()
    assert "it belongs to another user" in Directory(path, "transaction_dir", own=True).why_unwritable()
    assert Directory(path, "maps_dir").readable() == path
    os.lchown(path, 0, 0)
    assert Directory(path, "transaction_dir", own=True).writable() == path
