"""The list of programs that may be missing on a machine only shrinks."""

import subprocess
import sys
from pathlib import Path

from tests.rules.skips import LIST
from tests.rules.sources import CHECKOUT

SKIPPED = """\
import pytest

def test_listed():
    pytest.skip("no groff here")

@pytest.mark.skipif(True, reason="not today")
def test_not_listed():
    pass
"""


def test_the_list_only_shrinks() -> None:
    reasons = LIST["may_be_missing"]
    assert len(set(reasons)) == len(reasons) == LIST["at_most"] <= 20


def test_every_reason_is_one_of_a_test() -> None:
    texts = [path.read_text() for path in (CHECKOUT / "tests").rglob("*") if path.is_file() and path.suffix in (".py", "")]
    written = "\n".join(texts)
    assert [reason for reason in LIST["may_be_missing"] if reason not in written] == []


def test_a_skip_that_is_not_listed_fails(tmp_path: Path) -> None:
    test = tmp_path / "test_skipped.py"
    test.write_text(SKIPPED)
    words = [sys.executable, "-m", "pytest", "-c", str(CHECKOUT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    done = subprocess.run([*words, "-p", "tests.rules.skips", str(test)], capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert "1 skipped, 1 error" in done.stdout
    assert "tests/rules/skips.toml does not list: not today" in done.stdout
