"""A file is written whole, and is as closed as what it is a copy of."""

import errno
import os
import stat
import uuid
from pathlib import Path

import pytest

from haproxy_native.disk.atomic import DraftFile, is_draft, mode_like, move, remove_drafts, write_atomically
from tests.native.disk.failing import FailingSystem, fail_with, kill


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.mark.parametrize(("original", "copy"), [(0o640, 0o640), (0o600, 0o600), (0o755, 0o644)])
def test_a_copy_has_the_mode_of_the_original(tmp_path: Path, original: int, copy: int) -> None:
    (tmp_path / "a").write_text("secret")
    (tmp_path / "a").chmod(original)
    write_atomically(tmp_path / "b", b"secret", like=tmp_path / "a")
    assert (tmp_path / "b").read_bytes() == b"secret"
    assert mode(tmp_path / "b") == copy == mode_like(tmp_path / "a")


def test_without_an_original_it_is_private(tmp_path: Path) -> None:
    write_atomically(tmp_path / "b", b"x", like=tmp_path / "none")
    write_atomically(tmp_path / "c", b"x", durable=False)
    assert mode(tmp_path / "b") == mode(tmp_path / "c") == 0o600


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")
def test_a_copy_belongs_to_whom_the_original_does(tmp_path: Path) -> None:
    (tmp_path / "a").touch()
    os.chown(tmp_path / "a", 65534, 12)
    write_atomically(tmp_path / "b", b"x", like=tmp_path / "a")
    assert ((tmp_path / "b").stat().st_uid, (tmp_path / "b").stat().st_gid) == (65534, 12)


def test_a_failure_leaves_what_was_there(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    with pytest.raises(OSError):
        write_atomically(tmp_path / "b", b"x")
    assert os.listdir(tmp_path) == ["b"]


def test_a_mode_and_pieces(tmp_path: Path) -> None:
    (tmp_path / "a").touch(0o600)
    write_atomically(tmp_path / "b", iter([b"one ", b"two"]), like=tmp_path / "a", mode=0o755)
    assert (tmp_path / "b").read_bytes() == b"one two"
    assert mode(tmp_path / "b") == 0o755


@pytest.mark.parametrize("half", [False, True])
def test_any_failure_leaves_the_old_content_or_the_new(tmp_path: Path, half: bool) -> None:
    counted = FailingSystem()
    write_atomically(tmp_path / "b", b"old", system=counted)
    assert counted.calls[:3] == ["open", "fchmod", "write"] and counted.calls.count("fsync") == 2
    for at in range(len(counted.calls)):
        (tmp_path / "b").write_bytes(b"old")
        try:
            write_atomically(tmp_path / "b", b"new", system=FailingSystem(at, fail_with(errno.EIO), half=half))
            wanted = b"new"
        except OSError:
            wanted = b"old"
        assert (tmp_path / "b").read_bytes() == wanted
        # A failing deletion is made up for at the next start.
        remove_drafts(tmp_path, "b")
        assert os.listdir(tmp_path) == ["b"]


def test_not_durable_means_no_waiting_for_the_disk(tmp_path: Path) -> None:
    counted = FailingSystem()
    write_atomically(tmp_path / "b", b"x", durable=False, system=counted)
    assert "fsync" not in counted.calls


def test_drafts_that_a_killed_process_has_left(tmp_path: Path) -> None:
    def kill_at(at: int) -> None:
        if (pid := os.fork()) == 0:
            write_atomically(tmp_path / "b", b"new", system=FailingSystem(at, kill))
            os._exit(0)
        os.waitpid(pid, 0)

    kill_at(2)
    held = DraftFile(tmp_path / f".b.{uuid.uuid4()}")
    others = [f".c.{uuid.uuid4()}", ".b.hidden", "b"]
    for name in others:
        (tmp_path / name).touch()
    assert len(os.listdir(tmp_path)) == 5
    remove_drafts(tmp_path, "b")
    assert sorted(os.listdir(tmp_path)) == sorted([held.path.name, *others])
    held.discard()
    remove_drafts(tmp_path)
    assert sorted(os.listdir(tmp_path)) == [".b.hidden", "b"]
    remove_drafts(tmp_path / "nowhere")


def test_a_move_replaces(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    (tmp_path / "b").write_text("b")
    move(tmp_path / "a", tmp_path / "b")
    assert [path.read_text() for path in tmp_path.iterdir()] == ["a"]


def test_drafts() -> None:
    assert is_draft(".hosts.map.00000000-0000-4000-8000-000000000000")
    assert not is_draft(".hosts.map")
