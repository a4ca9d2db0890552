"""A confined child changes nothing but what is below its directories, and executes nothing but what it may."""

import os
import struct
import subprocess
import sys
from pathlib import Path

import pytest

from haproxy_native import sandbox

pytestmark = pytest.mark.skipif(not sandbox.version(), reason="this kernel has no Landlock")
PYTHON = Path(os.path.realpath(sys.executable))


def ran(code: str, writable: list[Path], programs: list[Path] | None = None) -> str:
    """What a confined Python says."""

    def start() -> subprocess.Popen[str]:
        return subprocess.Popen([PYTHON, "-S", "-E", "-c", code], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    return sandbox.confined(start, writable, programs or []).communicate(timeout=60)[0]


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


def test_only_its_own_program(tmp_path: Path) -> None:
    code = "import os; print(os.system('echo started') != 0)"
    assert "started" not in ran(code, [], sandbox.programs_of(str(PYTHON)))
    assert "started" in ran(code, [])
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    assert sandbox.programs_of(str(script)) == [] == sandbox.programs_of(str(tmp_path / "nothing"))


@pytest.mark.parametrize("place", [200, 100_000])
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("wide", [True, False], ids=["64 bit", "32 bit"])
def test_the_loader_of_a_program_wherever_it_is_named(tmp_path: Path, place: int, order: str, wide: bool) -> None:
    loader, file = b"/lib/ld.so\0", tmp_path / "program"
    head = struct.pack("4sBB10x", b"\x7fELF", 2 if wide else 1, 1 if order == "<" else 2)
    if wide:
        head += struct.pack(f"{order}HHIQQQIHHHHHH", 2, 62, 1, 0, 64, 0, 0, 64, 56, 2, 0, 0, 0)
        segments = [struct.pack(f"{order}IIQQQQQQ", kind, 4, at, 0, 0, len(loader), 0, 1) for kind, at in [(1, 0), (3, place)]]
    else:
        head += struct.pack(f"{order}HHIIIIIHHHHHH", 2, 3, 1, 0, 52, 0, 0, 52, 32, 2, 0, 0, 0)
        segments = [struct.pack(f"{order}IIIIIIII", kind, at, 0, 0, len(loader), 0, 4, 1) for kind, at in [(1, 0), (3, place)]]
    file.write_bytes((head + b"".join(segments)).ljust(place, b"\0") + loader)
    assert sandbox.programs_of(str(file)) == [file, Path("/lib/ld.so")]
    file.write_bytes(head[:20])
    assert sandbox.programs_of(str(file)) == []


def test_this_process_stays_free(tmp_path: Path) -> None:
    assert sandbox.confined(lambda: 7, []) == 7
    with pytest.raises(ZeroDivisionError):
        sandbox.confined(lambda: 1 // 0, [])
    (tmp_path / "file").write_text("x")
    assert subprocess.run(["/bin/sh", "-c", f"echo y > {tmp_path}/file"], check=True).returncode == 0
