"""What a type checker reports."""

import subprocess
import sys
from pathlib import Path

from tests.rules.sources import CHECKOUT


def types(*modules: Path) -> str:
    """What mypy reports of modules, as strictly as it can; empty if it has no objection."""
    # With the settings, and the cache, of `make check`.
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, modules)]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT).stdout
