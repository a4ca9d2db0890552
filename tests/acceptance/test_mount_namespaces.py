"""Run marked tests in a separate mount namespace, and report their results with those of the other tests."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance import mounts

CHECKOUT = Path(__file__).parents[2]
TESTS = """\
import os
from pathlib import Path

import pytest

from tests.acceptance import mounts

here = pytest.mark.mounts


@pytest.fixture(scope="module")
def directory(tmp_path_factory):
    return tmp_path_factory.mktemp("shared")


@here
def test_it_is_elsewhere(directory):
    mounts.memory(directory)
    assert os.readlink("/proc/self/ns/mnt") != os.readlink(f"/proc/{os.getppid()}/ns/mnt")
    assert os.path.ismount(directory)


def test_it_is_not(directory):
    assert not os.path.ismount(directory)


@here
def test_a_fixture_is_shared(directory):
    assert os.path.ismount(directory)


@here
def test_it_fails(directory):
    assert directory == 7


@here
def test_it_is_skipped():
    pytest.skip("for a reason")


@here
def test_it_crashes():
    print("the last words", flush=True)
    os._exit(3)


@here
def test_it_comes_too_late():
    pass


def test_the_others_go_on(directory):
    assert not os.path.ismount(directory)
"""


def test_reports_are_passed_on(tmp_path: Path) -> None:
    if mounts.why_not():
        pytest.skip(f"no mounts here: {mounts.why_not()}")
    tmp_path.joinpath("test_some.py").write_text(TESTS)
    tmp_path.joinpath("conftest.py").write_text(
        "from tests.acceptance import mounts\n\n\ndef pytest_configure(config):\n    mounts.register(config)\n"
    )
    tmp_path.joinpath("pytest.ini").write_text("[pytest]\n")
    variables = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    variables |= {"PYTHONPATH": str(CHECKOUT), "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    words = [sys.executable, "-m", "pytest", "-v", "-rA", "--strict-markers", "-p", "no:cacheprovider"]
    done = subprocess.run(words, check=False, cwd=tmp_path, env=variables, capture_output=True, text=True)
    outcomes = dict(re.findall(r"^test_some\.py::(\w+) +(\w+)", done.stdout, re.MULTILINE))
    assert outcomes == {
        "test_it_is_elsewhere": "PASSED",
        "test_it_is_not": "PASSED",
        "test_a_fixture_is_shared": "PASSED",
        "test_it_fails": "FAILED",
        "test_it_is_skipped": "SKIPPED",
        "test_it_crashes": "FAILED",
        "test_it_comes_too_late": "FAILED",
        "test_the_others_go_on": "PASSED",
    }, done.stdout + done.stderr
    assert "== 7" in done.stdout and "pytest in a mount namespace ended" in done.stdout
