"""The pid file and the identity."""

import os
import pwd
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from dataplaneapi.host.process import drop_privileges, write_pid_file
from dataplaneapi.settings.table import SettingsError

NO_PROCESS = 2**22 + 1


@pytest.mark.parametrize("before", [None, "", str(NO_PROCESS), "{own}\n"])
def test_the_own_pid_is_written(tmp_path: Path, before: str | None) -> None:
    path = tmp_path / "pid"
    if before is not None:
        path.write_text(before.format(own=os.getpid()))
    write_pid_file(str(path))
    assert path.read_text() == str(os.getpid())
    assert stat.S_IMODE(path.stat().st_mode) == 0o644
    assert os.listdir(tmp_path) == ["pid"]


@pytest.mark.parametrize(
    ("before", "said"),
    [
        (b"1", "process with PID 1 already exists"),
        (b"soon", "error while parsing PID file content: 'soon'"),
        (b"\xff", "error while parsing PID file content: '\ufffd'"),
    ],
)
def test_what_another_owns_is_left_alone(tmp_path: Path, before: bytes, said: str) -> None:
    path = tmp_path / "pid"
    path.write_bytes(before)
    with pytest.raises(SettingsError, match=said):
        write_pid_file(str(path))
    assert path.read_bytes() == before


def test_a_pid_that_cannot_be_written_is_told(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"pid_file: .*/none/pid cannot be written: No such file or directory"):
        write_pid_file(str(tmp_path / "none/pid"))


def test_zero_changes_nothing() -> None:
    before = os.getuid(), os.getgid(), os.getgroups()
    drop_privileges(0, 0)
    assert (os.getuid(), os.getgid(), os.getgroups()) == before


@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_a_user_gets_its_own_groups_and_never_those_of_root() -> None:
    """For every user of this machine: the primary group and the supplementary ones, as login(1) has them."""
    for user in pwd.getpwall():
        if not user.pw_uid:
            continue
        child = os.fork()
        if child == 0:
            drop_privileges(user.pw_uid, 0)
            wanted = {*os.getgrouplist(user.pw_name, user.pw_gid)}
            is_right = os.getresuid() == (user.pw_uid,) * 3 and os.getresgid() == (user.pw_gid,) * 3 and {*os.getgroups()} == wanted
            os._exit(0 if is_right else 3)
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0, user.pw_name


def test_a_user_that_nobody_knows_needs_a_group() -> None:
    child = os.fork()
    if child == 0:
        try:
            drop_privileges(2**22 - 1, 0)
        except SettingsError as error:
            os._exit(0 if "there is no user with the id 4194303 whose group could be used; set gid as well" in str(error) else 3)
        os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize(("uid", "gid"), [(65534, 65534), (65534, 0), (0, 65534)])
def test_another_identity(uid: int, gid: int) -> None:
    child = os.fork()
    if child == 0:
        try:
            drop_privileges(uid, gid)
            right = (os.getuid(), os.getgid()) == (uid or os.getuid(), gid or 65534)
            os._exit(0 if right else 3)
        except SettingsError:
            os._exit(4)
    expected = 0 if os.getuid() == 0 else 4
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == expected


@pytest.mark.parametrize(
    ("uid", "gid", "is_taken"), [(65533, 0, True), (65533, 65532, True), (0, 65532, True), (65533, 65531, False), (65531, 65532, False)]
)
@pytest.mark.skipif(os.getuid() != 0, reason="needs to become another user")
def test_an_identity_that_the_service_manager_has_set(uid: int, gid: int, is_taken: bool) -> None:
    """Another group than the primary one of the user, as with `User=` and `Group=` of a unit; no user needs to have the id."""
    child = os.fork()
    if child == 0:
        os.setgroups([65530])
        os.setresgid(65532, 65532, 65532)
        os.setresuid(65533, 65533, 65533)
        try:
            drop_privileges(uid, gid)
            is_right = (os.getuid(), os.getgid(), os.getgroups()) == (65533, 65532, [65530])
            os._exit(0 if is_right else 3)
        except SettingsError:
            os._exit(4)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == (0 if is_taken else 4)


@pytest.mark.parametrize(("soft", "hard", "wanted", "allowed"), [(64, 512, 256, 256), (64, 128, 256, 128), (256, 512, 128, 256)])
def test_open_files(soft: int, hard: int, wanted: int, allowed: int) -> None:
    """In a process of its own, as a limit that is lowered stays so."""
    script = f"""
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, ({soft}, {hard}))
from dataplaneapi.host.process import allow_open_files
print(allow_open_files({wanted}), *resource.getrlimit(resource.RLIMIT_NOFILE))
"""
    said = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout
    assert said.split() == [str(min(allowed, wanted)), str(allowed), str(hard)]
