"""Find the HAProxy binaries that tests use, and their versions.

All binaries come from `tests/tools/get-haproxy`, so an installed HAProxy has no influence; `make haproxy` fetches them. If a version cannot
be fetched, its tests are skipped with the reason.
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
# The environment variable that names programs whose absence fails tests instead of skipping them.
REQUIRED = "REQUIRED_PROGRAMS"
WANTED = ("2.6", "2.8", "3.0", "3.2")
# The versions for tests that run with each version. Those between the oldest and the newest run only in `make soak`.
EACH = ("2.6", pytest.param("2.8", marks=pytest.mark.soak), pytest.param("3.0", marks=pytest.mark.soak), "3.2")


@cache
def version(binary: str) -> tuple[int, int]:
    """Return (major, minor), as the binary reports its version."""
    output = subprocess.run([binary, "-v"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"version (\d+)\.(\d+)", output)
    assert match, output
    return int(match[1]), int(match[2])


@cache
def installed() -> tuple[str, ...]:
    """Return all available binaries, the oldest version first."""
    found = {version(binary): binary for wanted in (*WANTED, "") if (binary := fetched(wanted))}
    return tuple(found[key] for key in sorted(found))


def newest() -> str:
    return fetched("") or _skip("any version")


def exactly(wanted: str) -> str:
    """Return the binary of one version, such as "2.6". Skips the test if the binary is not available."""
    return fetched(wanted) or _skip(wanted)


def of(at_least: tuple[int, int], below: tuple[int, int] = (99, 0)) -> str:
    """Return the newest binary in a range of versions. Skips the test if there is none."""
    fitting = [binary for binary in installed() if at_least <= version(binary) < below]
    return fitting[-1] if fitting else _skip(f"{at_least} <= version < {below}")


@cache
def fetched(wanted: str) -> str:
    """Return the path of the binary from get-haproxy; '', after its messages on standard error, if it fails."""
    ran = subprocess.run([str(GET_HAPROXY), *([wanted] if wanted else [])], capture_output=True, text=True, check=False)
    if ran.returncode:
        print(ran.stderr, file=sys.stderr)
    return ran.stdout.strip()


@cache
def program(name: str) -> str:
    """Return the path of another program, from get-program. If it is not available, skip the test, or fail it if REQUIRED names it."""
    ran = subprocess.run([str(GET_PROGRAM), name], capture_output=True, text=True, check=False)
    if ran.returncode == 0:
        return ran.stdout.strip()
    refuse = pytest.fail if name in os.environ.get(REQUIRED, "").split() else pytest.skip
    # Messages about the download come before the reason.
    refuse("get-program: no " + ran.stderr.rpartition("get-program: no")[2].strip())


@cache
def path_with_curl() -> str:
    """Return a PATH with curl: that of the machine, or with a fetched curl appended. Skips the test if curl is not available."""
    machine = os.environ.get("PATH", os.defpath)
    return machine if shutil.which("curl") else f"{machine}:{Path(program('curl')).parent}"


def _skip(wanted: str) -> NoReturn:
    pytest.skip(f"no HAProxy here: {wanted}; run tests/tools/get-haproxy")
