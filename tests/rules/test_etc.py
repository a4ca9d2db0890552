"""Let a test fail that reads the machine's /etc."""

import subprocess
import sys
from pathlib import Path

from tests.rules.sources import CHECKOUT

READS = """\
from pathlib import Path

def test_reads_etc():
    Path("/etc/passwd").read_text()

def test_reads_its_own(tmp_path):
    list(tmp_path.iterdir())
"""


def test_a_test_that_reads_etc_fails(tmp_path: Path) -> None:
    test = tmp_path / "test_reads.py"
    test.write_text(READS)
    words = [sys.executable, "-m", "pytest", "-c", str(CHECKOUT / "pyproject.toml"), "--rootdir", str(tmp_path), "-p", "no:cacheprovider"]
    done = subprocess.run([*words, "-p", "tests.rules.etc", str(test)], capture_output=True, text=True, check=False, cwd=CHECKOUT)
    assert "the test reads /etc/passwd" in done.stdout
    assert "1 failed, 1 passed" in done.stdout
