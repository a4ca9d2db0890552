"""Unpack wheels for several versions of Python into one directory, and build a package from it."""

import re
import subprocess
import sys
import zipfile
from collections.abc import Mapping
from pathlib import Path

from tests.rules.sources import CHECKOUT

BOTH = {"one/__init__.py": "VERSION = 1\n", "one-1.dist-info/METADATA": "Name: one\n", "one-1.data/scripts/one": "#!python\n"}


def wheel(directory: Path, tag: str, files: Mapping[str, str]) -> None:
    with zipfile.ZipFile(directory / f"one-1-{tag}.whl", "w") as archive:
        for name, text in {**files, "one-1.dist-info/WHEEL": f"Tag: {tag}\n", "one-1.dist-info/RECORD": tag}.items():
            archive.writestr(name, text)


def unpack(wheels: Path, target: Path) -> subprocess.CompletedProcess[str]:
    words = [sys.executable, str(CHECKOUT / "packaging/unpack.py"), str(wheels), str(target)]
    return subprocess.run(words, capture_output=True, text=True, check=False)


def test_compiled_modules_of_both_stand_side_by_side(tmp_path: Path) -> None:
    wheels, target = tmp_path / "wheels", tmp_path / "target"
    wheels.mkdir()
    wheel(wheels, "cp311-linux", {**BOTH, "one/fast.cpython-311-linux.so": "a"})
    wheel(wheels, "cp313-linux", {**BOTH, "one/fast.cpython-313-linux.so": "b"})
    done = unpack(wheels, target)
    assert done.returncode == 0, done.stderr
    found = {path.relative_to(target).as_posix() for path in target.rglob("*") if path.is_file()}
    modules = {f"one/fast.cpython-{number}-linux.so" for number in ("311", "313")}
    assert found == {"one/__init__.py", *modules, "one-1.dist-info/METADATA", "one-1.dist-info/WHEEL"}


def test_wheels_that_differ_elsewhere_are_refused(tmp_path: Path) -> None:
    wheel(tmp_path, "cp311-linux", BOTH)
    wheel(tmp_path, "cp313-linux", {**BOTH, "one/__init__.py": "VERSION = 2\n"})
    done = unpack(tmp_path, tmp_path / "target")
    assert done.returncode == 1
    assert "one/__init__.py is different in another wheel" in done.stderr


def test_the_package_depends_on_the_pythons_that_it_holds_modules_for() -> None:
    (held,) = re.findall(r"^\[ \$# -gt 0 \] \|\| set -- (.*)$", (CHECKOUT / "packaging/wheels").read_text(), re.MULTILINE)
    (depends,) = re.findall(r"^Depends: (.*)$", (CHECKOUT / "packaging/debian/control").read_text(), re.MULTILINE)
    first, last = held.split()
    after = {each: f"3.{int(each.partition('.')[2]) + 1}" for each in (first, last)}
    python = f"python3 (>= {first}), python3 (<< {after[last]}), python3 (<< {after[first]}) | python3 (>= {last}), "
    assert depends.startswith(python)
