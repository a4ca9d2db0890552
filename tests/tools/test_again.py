import os
import subprocess
import sys
from pathlib import Path

AGAIN = Path(__file__).with_name("again")
# Each test that is named in `once` fails the first time only.
TESTS = """\
from pathlib import Path

import pytest


@pytest.mark.parametrize("name", {names})
def test_one(name):
    before = Path(f"ran-{{name}}")
    ran = before.exists()
    before.touch()
    assert name.startswith("good") or (ran and name.startswith("once"))
"""


def _run(directory: Path, *names: str) -> subprocess.CompletedProcess[str]:
    directory.joinpath("test_some.py").write_text(TESTS.format(names=names))
    directory.joinpath("pytest.ini").write_text("[pytest]\n")
    command = [sys.executable, str(AGAIN), sys.executable, "-m", "pytest", "-q", "-p", "xdist", "-n", "1"]
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    variables["PYTEST_DISABLE_PLUGIN_AUTOLOAD"] = "1"
    return subprocess.run(command, check=False, cwd=directory, env=variables, capture_output=True, text=True, timeout=120)


def test_what_passes_alone_is_told_and_does_not_fail_the_run(tmp_path: Path) -> None:
    done = _run(tmp_path, "good", "once")
    assert done.returncode == 0, done.stdout
    assert "passed alone after a failure beside others, to be looked at: test_some.py::test_one[once]" in done.stdout


def test_what_fails_twice_fails_the_run(tmp_path: Path) -> None:
    done = _run(tmp_path, "good", "once", "bad")
    assert done.returncode == 1 and "1 failed, 1 passed" in done.stdout, done.stdout


def test_many_failures_are_not_tried_again(tmp_path: Path) -> None:
    done = _run(tmp_path, *(f"once{number}" for number in range(4)))
    assert done.returncode == 1 and "again, alone" not in done.stdout, done.stdout
