"""Remove the temporary files of a killed process, and no others."""

import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from haproxy_native.errors import Unusable
from haproxy_native.scratch import Scratch, remove_leftovers
from haproxy_native.transactions.staged import Staged

HOLD = """
import sys
from haproxy_native.errors import Unusable
from haproxy_native.scratch import Scratch
made = Scratch("set")
(made.path / "root").mkdir()
(made.path / "root" / "etc").symlink_to(sys.argv[1])
print(made.path, flush=True)
sys.stdin.read()
"""


@pytest.fixture(autouse=True)
def directory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the directory for temporary files, in this process and in its children."""
    directory = tmp_path / "temporary"
    directory.mkdir()
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.setattr(tempfile, "tempdir", None)
    return directory


@pytest.fixture
def other(tmp_path: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Start another process, and return it with its directory, which has a link to a directory with a file."""
    (tmp_path / "kept").mkdir()
    (tmp_path / "kept" / "file").write_text("")
    command = [sys.executable, "-c", HOLD, str(tmp_path / "kept")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        yield process, Path(process.stdout.readline().rstrip())
        process.kill()


def test_it_is_removed_with_what_is_in_it(directory: Path) -> None:
    scratch = Scratch("check")
    assert scratch.path.parent == directory
    assert scratch.path.name.startswith("haproxy-check-")
    (scratch.path / "file").write_text("")
    scratch.remove()
    assert list(directory.iterdir()) == []


def test_what_a_killed_process_has_left(tmp_path: Path, directory: Path, other: tuple[subprocess.Popen[str], Path]) -> None:
    process, path = other
    ours = Scratch("check")
    assert remove_leftovers() == [], "both are in use"
    process.kill()
    process.wait()
    assert remove_leftovers() == [path]
    assert list(directory.iterdir()) == [ours.path]
    assert (tmp_path / "kept" / "file").exists()
    ours.remove()


def test_what_is_not_ours_stays(tmp_path: Path, directory: Path) -> None:
    for name in ("haproxy-set-mine", "haproxy-other-abcdefgh", "haproxy-set-abcdefgh.d", "x-haproxy-set-abcdefgh"):
        (directory / name).mkdir()
    (directory / "haproxy-set-01234567").write_text("a file")
    (tmp_path / "elsewhere").mkdir()
    (directory / "haproxy-set-abcdefgh").symlink_to(tmp_path / "elsewhere")
    before = sorted(directory.iterdir())
    assert remove_leftovers() == []
    assert sorted(directory.iterdir()) == before
    assert (tmp_path / "elsewhere").exists()


def test_that_of_another_user_stays(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (directory / "haproxy-set-abcdefgh").mkdir()
    owner = os.geteuid()
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert remove_leftovers() == []


def test_what_was_started_in_it_is_ended(other: tuple[subprocess.Popen[str], Path], tmp_path: Path) -> None:
    """A process that only has a similar name is not ended."""
    process, path = other
    wait = [sys.executable, "-c", "import time; time.sleep(60)"]
    with subprocess.Popen([*wait, f"{path}/haproxy.cfg"]) as left, subprocess.Popen([*wait, f"{path}x/haproxy.cfg"]) as alike:
        assert remove_leftovers() == [] and left.poll() is None
        process.kill()
        process.wait()
        assert remove_leftovers() == [path]
        assert left.wait(60) == -signal.SIGKILL and alike.poll() is None
        alike.kill()


def test_where_nothing_temporary_can_be_written(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The module `tempfile` finds no directory, or the directory that it has found was deleted."""
    monkeypatch.setattr(tempfile, "_candidate_tempdir_list", lambda: [str(directory / "missing")])
    for _ in range(2):
        with pytest.raises(Unusable, match=r"^no temporary directory can be made in TMPDIR, /tmp, /var/tmp: No "):
            Scratch("set")
        monkeypatch.setattr(tempfile, "tempdir", str(directory / "gone"))
    for use in (lambda: Staged(None).draft(), lambda: Scratch("shadow")):
        with pytest.raises(Unusable):
            use()
