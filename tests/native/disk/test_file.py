"""The file is old or new at any moment, keeps its attributes, and reports why it cannot be written."""

import errno
import os
import stat
import subprocess
import sys
import uuid
from pathlib import Path

import pytest

from haproxy_native.disk.file import ConfigFile, latest
from haproxy_native.errors import NativeError, Unreadable, WriteFailed
from tests.native.disk.failing import FailingSystem, fail_with, kill

OLD, NEW = b"# old\n" + b"a" * 20000, b"# the new one\n" + b"b" * 30000
ME = pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return file_in(tmp_path)


def file_in(parent: Path) -> Path:
    for name in ("etc", "state"):
        (parent / name).mkdir()
    path = parent / "etc" / "haproxy.cfg"
    path.write_bytes(OLD)
    return path


def config_file(path: Path, system: object = os) -> ConfigFile:
    return ConfigFile(path, path.parent.parent / "state", system)


def write(file: ConfigFile, data: bytes = NEW) -> None:
    file.draft(data, str(uuid.uuid4())).install()


def rest(path: Path) -> list[str]:
    """What lies about besides the file."""
    return sorted(set(os.listdir(path.parent)) - {path.name}) + sorted(os.listdir(path.parent.parent / "state"))


@pytest.mark.parametrize("data", [NEW, b"", b"\xff\x00"])
def test_replaces_the_content_and_nothing_else(path: Path, data: bytes) -> None:
    path.chmod(0o640)
    before = path.stat()
    write(config_file(path), data)
    assert path.read_bytes() == data == config_file(path).read()
    assert (path.stat().st_mode, path.stat().st_uid, path.stat().st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert rest(path) == []


def test_keeps_extended_attributes(path: Path) -> None:
    try:
        os.setxattr(path, "user.origin", b"salt")
    except OSError:
        pytest.skip("the file system has no extended attributes")
    write(config_file(path))
    assert os.getxattr(path, "user.origin") == b"salt"


@ME
def test_keeps_the_owner(path: Path) -> None:
    os.chown(path, 65534, 12)
    path.chmod(0o664)
    write(config_file(path))
    assert (path.stat().st_uid, path.stat().st_gid, stat.S_IMODE(path.stat().st_mode)) == (65534, 12, 0o664)


def test_a_symbolic_link_stays_one(path: Path) -> None:
    link = path.parent / "link.cfg"
    link.symlink_to("haproxy.cfg")
    write(config_file(link))
    assert link.is_symlink()
    assert path.read_bytes() == NEW


def test_a_draft_lies_beside_the_file_and_goes(path: Path) -> None:
    name = str(uuid.uuid4())
    draft = config_file(path).draft(NEW, name)
    assert draft.path == path.parent / f".haproxy.cfg.{name}"
    assert draft.path.read_bytes() == NEW
    draft.discard()
    assert path.read_bytes() == OLD
    assert rest(path) == []


def test_drafts_of_the_dead_are_removed_and_those_of_the_living_are_not(path: Path) -> None:
    (path.parent / f".haproxy.cfg.{uuid.uuid4()}").touch()
    (path.parent / "haproxy.cfg.5").touch()
    alive = config_file(path).draft(NEW, str(uuid.uuid4()))
    config_file(path).recover()
    assert rest(path) == [alive.path.name, "haproxy.cfg.5"]
    alive.discard()


def test_what_was_synced_ahead_is_synced_again_only_if_it_grew(path: Path) -> None:
    for more, syncs in ((b"", 1), (b"# more\n", 2)):
        system = FailingSystem()
        draft = config_file(path, system).draft(NEW, str(uuid.uuid4()))
        draft.sync()
        ahead = len(system.calls)
        if more:
            draft.append(more)
        draft.install()
        assert system.calls[ahead:].count("fsync") == syncs, "that of the directory, and of what is new"
        assert path.read_bytes() == NEW + more
        assert path.stat().st_mtime_ns == draft.dated


def steps(path: Path, system: FailingSystem) -> int:
    write(config_file(path, system))
    path.write_bytes(OLD)
    return len(system.calls)


class Bound(FailingSystem):
    """A file that cannot be replaced."""

    def __init__(self, target: Path, number: int = errno.EBUSY, at: int = -1, do=lambda name: None, half: bool = False) -> None:
        super().__init__(at, do, half)
        self.target, self.number = str(target), number

    def __getattr__(self, name: str):
        real = super().__getattr__(name)
        return self._refusing(real) if name == "replace" else real

    def _refusing(self, real):
        def replace(source, target):
            if str(target) == self.target:
                raise OSError(self.number, os.strerror(self.number))
            return real(source, target)

        return replace


@pytest.mark.parametrize("number", [errno.EBUSY, errno.EXDEV, errno.EACCES, errno.EROFS])
@pytest.mark.parametrize("data", [NEW, b"short", b""])
def test_what_cannot_be_renamed_is_written_in_place(path: Path, number: int, data: bytes) -> None:
    inode = path.stat().st_ino
    write(config_file(path, Bound(path, number)), data)
    assert path.read_bytes() == data
    assert path.stat().st_ino == inode
    assert rest(path) == []


def in_place(path: Path, at: int = -1, do=lambda name: None) -> FailingSystem:
    return Bound(path, at=at, do=do, half=True)


def renaming(path: Path, at: int = -1, do=lambda name: None) -> FailingSystem:
    return FailingSystem(at, do, half=True)


@pytest.mark.parametrize("way", [renaming, in_place])
def test_a_failure_at_any_step_leaves_old_or_new(path: Path, way) -> None:
    for at in range(steps(path, way(path))):
        path.write_bytes(OLD)
        try:
            write(config_file(path, way(path, at, fail_with(errno.EIO))))
            is_written = True
        except WriteFailed:
            is_written = False
        config_file(path).recover()
        assert path.read_bytes() in ((OLD, NEW) if is_written else (OLD,)), f"step {at}"
        assert rest(path) in ([], ["haproxy.cfg.journal.new"]), f"step {at}"


@pytest.mark.parametrize("way", [renaming, in_place])
def test_a_kill_at_any_step_leaves_old_or_new(path: Path, way) -> None:
    seen = set()
    for at in range(steps(path, way(path))):
        path.write_bytes(OLD)
        child = os.fork()
        if child == 0:
            try:
                write(config_file(path, way(path, at, kill)))
            finally:
                os._exit(0)
        os.waitpid(child, 0)
        config_file(path).recover()
        seen.add(path.read_bytes())
        assert seen <= {OLD, NEW}, f"step {at}"
        assert rest(path) in ([], ["haproxy.cfg.journal.new"]), f"step {at}"
    assert seen == {OLD, NEW}


def test_a_half_written_file_is_completed_but_not_somebody_elses(path: Path) -> None:
    def left_behind() -> None:
        child = os.fork()
        if child == 0:
            system = Bound(path)
            journal = config_file(path, system).journal
            journal._begin(str(path), OLD, NEW)
            os._exit(0)
        os.waitpid(child, 0)

    for found, completed in [
        (NEW[:9000] + OLD[9000:], True),
        (NEW[:5000] + OLD[5000:8192] + NEW[8192:], True),
        (NEW[:9000] + OLD[9000:] + bytes(len(NEW) - len(OLD)), True),
        (OLD, False),
        (NEW, False),
        (b"by hand\n" + OLD, False),
        (b"", False),
    ]:
        left_behind()
        path.write_bytes(found)
        assert config_file(path).recover() is completed
        assert path.read_bytes() == (NEW if completed else found)
        assert rest(path) == []


def test_a_broken_journal_is_dropped(path: Path) -> None:
    for content in (b"", b"{}\n", b"[]\nx", b'{"md5": "0", "old": 1, "target": "/"}\nxy'):
        config_file(path).journal.path.write_bytes(content)
        assert config_file(path).recover() is False
        assert path.read_bytes() == OLD
        assert rest(path) == []


def test_a_full_disk_is_noticed_before_anything_is_lost(path: Path) -> None:
    calls = Bound(path)
    write(config_file(path, calls))
    path.write_bytes(OLD)
    at = calls.calls.index("posix_fallocate")
    with pytest.raises(WriteFailed, match="No space left on device; make room on that disk"):
        write(config_file(path, Bound(path, at=at, do=fail_with(errno.ENOSPC))))
    assert path.read_bytes() == OLD


def test_a_file_given_away_is_written_in_place(path: Path) -> None:
    inode = path.stat().st_ino
    system = FailingSystem()
    write(config_file(path, system))
    path.write_bytes(OLD)
    inode = path.stat().st_ino
    write(config_file(path, FailingSystem(system.calls.index("fchmod"), fail_with(errno.EPERM))))
    assert path.read_bytes() == NEW
    assert path.stat().st_ino == inode


def as_nobody(path: Path) -> str:
    """Writes the file as an ordinary user; "" or the error's text."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setgroups([])
            os.setgid(65534)
            os.setuid(65534)
            write(config_file(path))
        except (NativeError, OSError) as error:
            os.write(writing, str(error).encode())
        os._exit(0)
    os.waitpid(child, 0)
    os.close(writing)
    with os.fdopen(reading) as answer:
        return answer.read()


@ME
@pytest.mark.parametrize(
    ("owner", "mode", "directory_mode", "result"),
    [
        (65534, 0o644, 0o755, "in place"),  # the directory is read-only
        (0, 0o666, 0o777, "in place"),  # the file cannot be given to root again
        (0, 0o644, 0o777, "renamed"),  # only the directory is ours
        (0, 0o640, 0o777, "renamed"),
        (0, 0o644, 0o755, "refused"),
    ],
)
def test_an_ordinary_user(public_path: Path, owner: int, mode: int, directory_mode: int, result: str) -> None:
    path = file_in(public_path)
    os.chown(path, owner, owner)
    path.chmod(mode)
    path.parent.chmod(directory_mode)
    (path.parent.parent / "state").chmod(0o777)
    inode = path.stat().st_ino
    said = as_nobody(path)
    assert path.read_bytes() == (OLD if result == "refused" else NEW)
    assert (path.stat().st_ino != inode) is (result == "renamed")
    assert stat.S_IMODE(path.stat().st_mode) == mode
    if result == "refused":
        assert said.startswith(f"invalid change: cannot write {path}: Permission denied; {path} belongs to root:root, mode 0644, and ")
        assert "runs as nobody: give it write access" in said
    else:
        assert said == ""


def test_the_mode_stays_where_the_owner_cannot(path: Path) -> None:
    """Of a file that can only be replaced: HAProxy may read it by its mode alone."""

    class Strict(FailingSystem):
        def fchown(self, *arguments: object) -> None:
            raise OSError(errno.EPERM, "Operation not permitted")

    path.chmod(0o604)
    draft = config_file(path, Strict()).draft(NEW, str(uuid.uuid4()))
    assert stat.S_IMODE(draft.path.stat().st_mode) == 0o604
    draft.discard()


def test_a_real_bind_mount(path: Path) -> None:
    code = (
        "import sys, uuid; from pathlib import Path; from haproxy_native.disk.file import ConfigFile\n"
        f"ConfigFile(sys.argv[1], Path(sys.argv[2])).draft({NEW!r}, str(uuid.uuid4())).install()"
    )
    script = 'mount --bind "$1" "$1" || exit 77; "$2" -c "$3" "$1" "$4"'
    command = ["unshare", "-rm", "sh", "-c", script, "-", str(path), sys.executable, code, str(path.parent.parent / "state")]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode == 77 or "unshare" in done.stderr:
        pytest.skip("no mounts here")
    assert done.stderr == ""
    assert path.read_bytes() == NEW
    assert rest(path) == []


def test_a_file_that_cannot_be_read(tmp_path: Path) -> None:
    file = ConfigFile(tmp_path / "none.cfg", tmp_path)
    assert file.read_stamp() is None
    with pytest.raises(Unreadable, match=r"failed to read configuration: Cannot read .*/none.cfg: No such file"):
        file.read()


def test_seen_changes_with_the_file(path: Path) -> None:
    file = config_file(path)
    before = file.read_stamp()
    assert file.read_stamp() == before
    write(file)
    assert file.read_stamp() != before


@pytest.mark.parametrize(
    ("dated", "at_the_latest"), [(5_000_000_001, 5_000_000_001), (5_999_999_999, 5_999_999_999), (5_000_000_000, 7_000_000_000)]
)
def test_a_file_dated_in_whole_seconds_may_be_younger(dated: int, at_the_latest: int) -> None:
    assert latest(dated) == at_the_latest
