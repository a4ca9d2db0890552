"""The HAProxy binaries that tests run against, and their versions.

All come from `tests/tools/get-haproxy`, so what the machine has installed does not matter; `make haproxy` fetches them.
A version that cannot be had skips its tests with the reason, never silently.
"""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from pathlib import Path
from typing import NoReturn

import pytest

GET_HAPROXY = Path(__file__).parents[1] / "tools" / "get-haproxy"
GET_PROGRAM = GET_HAPROXY.with_name("get-program")
# A variable: programs without which tests fail instead of being skipped.
REQUIRED = "REQUIRED_PROGRAMS"
WANTED = ("2.6", "2.8", "3.0", "3.2")
# Parameters of a test of each: those between the oldest and the newest take their turn in `make soak`.
EACH = ("2.6", pytest.param("2.8", marks=pytest.mark.soak), pytest.param("3.0", marks=pytest.mark.soak), "3.2")


@cache
def version(binary: str) -> tuple[int, int]:
    """(major, minor) as the binary itself tells."""
    output = subprocess.run([binary, "-v"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"version (\d+)\.(\d+)", output)
    assert match, output
    return int(match[1]), int(match[2])


@cache
def installed() -> tuple[str, ...]:
    """Every binary there is, oldest version first."""
    found = {version(binary): binary for wanted in (*WANTED, "") if (binary := fetched(wanted))}
    return tuple(found[key] for key in sorted(found))


def newest() -> str:
    return fetched("") or _skip("any version")


def exactly(wanted: str) -> str:
    """The binary of one version, such as "2.6"; skips the test where it cannot be had."""
    return fetched(wanted) or _skip(wanted)


def of(at_least: tuple[int, int], below: tuple[int, int] = (99, 0)) -> str:
    """The newest binary in a range of versions; skips the test where there is none."""
    fitting = [binary for binary in installed() if at_least <= version(binary) < below]
    return fitting[-1] if fitting else _skip(f"{at_least} <= version < {below}")


@cache
def fetched(wanted: str) -> str:
    """What get-haproxy prints for a version, or nothing; its reasons go to the test run's errors."""
    ran = subprocess.run([str(GET_HAPROXY), *([wanted] if wanted else [])], capture_output=True, text=True, check=False)
    if ran.returncode:
        print(ran.stderr, file=sys.stderr)
    return ran.stdout.strip()


@cache
def program(name: str) -> str:
    """Another program that tests need, by get-program; skips the test where it cannot be had, or fails it where that is asked for."""
    ran = subprocess.run([str(GET_PROGRAM), name], capture_output=True, text=True, check=False)
    if ran.returncode == 0:
        return ran.stdout.strip()
    refuse = pytest.fail if name in os.environ.get(REQUIRED, "").split() else pytest.skip
    # Before it stands what it fetches.
    refuse("get-program: no " + ran.stderr.rpartition("get-program: no")[2].strip())


@cache
def path_with_curl() -> str:
    """The PATH of a shell that calls curl: the machine's, or with a fetched one behind it; skips the test where there is none."""
    machine = os.environ.get("PATH", os.defpath)
    return machine if shutil.which("curl") else f"{machine}:{Path(program('curl')).parent}"


def _skip(wanted: str) -> NoReturn:
    pytest.skip(f"no HAProxy here: {wanted}; run tests/tools/get-haproxy")
