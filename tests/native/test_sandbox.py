"""Confine a child process: it can change files only in its directories, and connect only where it may."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from haproxy_native import sandbox, seccomp
from haproxy_native.seccomp import Reach

pytestmark = pytest.mark.skipif(bool(sandbox.missing_confinement()), reason="this kernel has no Landlock, or no filter of system calls")
PYTHON = Path(os.path.realpath(sys.executable))


def ran(code: str, writable: list[Path], *, names: bool = True) -> str:
    """Run code in a confined Python, and return its output."""

    def start() -> subprocess.Popen[str]:
        words, pipe = [PYTHON, "-S", "-E", "-c", code], subprocess.PIPE
        return subprocess.Popen(words, stdout=pipe, stderr=subprocess.STDOUT, text=True, start_new_session=True)

    return sandbox.start_confined(start, writable, names=names).communicate()[0]


def test_files_outside_stay_as_they_are(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "file").write_text("before")
    for code in (
        'open("file", "w")',
        'open("new", "w")',
        'os.unlink("file")',
        'os.mkdir("d")',
        'os.rename("file", "other")',
        'os.symlink("a", "b")',
    ):
        assert "PermissionError" in ran(f"import os; os.chdir({str(outside)!r}); {code}", [inside]), code
    assert [(each.name, each.read_text()) for each in outside.iterdir()] == [("file", "before")]
    assert (
        ran(f"import os; os.chdir({str(inside)!r}); open('a', 'w').write('x'); os.rename('a', 'b'); open('/dev/null', 'w')", [inside]) == ""
    )
    assert (inside / "b").read_text() == "x"


REACHED = """
import errno, socket
def tried(type, port, *more):
    try:
        with socket.socket(socket.AF_INET, type, *more) as a:
            a.connect(("127.0.0.1", port))
    except OSError as error:
        return errno.errorcode[error.errno]
for port in (53, 54):
    print(tried(socket.SOCK_STREAM, port), tried(socket.SOCK_DGRAM, port), tried(socket.SOCK_RAW, port, socket.IPPROTO_ICMP))
"""


def test_name_servers_and_nobody_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody listens on these ports, so a permitted connection is refused by the machine."""
    if sandbox.version() >= 4:
        assert ran(REACHED, []).split() == ["ECONNREFUSED", "None", "EPERM", "EACCES", "None", "EPERM"]
    monkeypatch.setattr(sandbox, "version", lambda: 3)
    assert ran(REACHED, []).split() == ["EPERM", "None", "EPERM", "EPERM", "None", "EPERM"]
    assert ran(REACHED, [], names=False).split() == ["EPERM"] * 6


def test_what_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    assert sandbox.missing_confinement() == []
    monkeypatch.setattr(sandbox, "version", lambda: 0)
    monkeypatch.setattr(seccomp.platform, "machine", lambda: "s390x")
    seccomp.available.cache_clear()
    try:
        files, reach = sandbox.missing_confinement()
    finally:
        monkeypatch.undo()
        seccomp.available.cache_clear()
    assert "it may change files, since this process may not use Landlock" in files
    assert "it may connect, also to sockets of HAProxy, and start programs, since there is no filter of system calls for" in reach


def test_both_machines_have_a_filter(monkeypatch: pytest.MonkeyPatch) -> None:
    """No jump leads behind the end of a filter, and each named system call has a number."""
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr(seccomp.platform, "machine", lambda machine=machine: machine)
        for reach in Reach:
            code = b"".join(seccomp._program(reach))
            rows = [struct.unpack_from("=HBBI", code, at) for at in range(0, len(code), 8)]
            assert all(at + 1 + max(if_so, if_not) < len(rows) for at, (_, if_so, if_not, _) in enumerate(rows[:-1]))
            assert rows[-1] == (6, 0, 0, 0x7FFF0000)


def test_this_process_stays_free(tmp_path: Path) -> None:
    assert sandbox.start_confined(lambda: 7, [], names=True) == 7
    with pytest.raises(ZeroDivisionError):
        sandbox.start_confined(lambda: 1 // 0, [], names=True)
    (tmp_path / "file").write_text("x")
    assert subprocess.run(["/bin/sh", "-c", f"echo y > {tmp_path}/file"], check=True).returncode == 0
