"""Every test has a time limit, and one that exceeds it fails."""

import subprocess
import sys
import tomllib
from pathlib import Path

from tests.rules.sources import CHECKOUT

OPTIONS = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["tool"]["pytest"]["ini_options"]
WAITS = """\
import asyncio

def test_waits():
    asyncio.run(asyncio.Event().wait())

def test_goes_on():
    pass
"""


def test_a_test_that_hangs_fails(tmp_path: Path) -> None:
    test = tmp_path / "test_waits.py"
    test.write_text(WAITS)
    command = [sys.executable, "-m", "pytest", "-c", str(CHECKOUT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    done = subprocess.run([*command, "-o", "timeout=1", str(test)], capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert "Timeout (>1.0s) from pytest-timeout" in done.stdout
    assert "1 failed, 1 passed" in done.stdout


def test_the_limit_is_not_for_ever() -> None:
    assert 0 < OPTIONS["timeout"] <= 600
