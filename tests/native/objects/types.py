"""What a type checker reports."""

import os
import subprocess
import sys
from pathlib import Path

from tests.rules.sources import CHECKOUT


def types(*modules: Path, beside: Path | None = None) -> str:
    """What mypy reports of modules, as strictly as it can; empty if it has no objection. Packages in `beside` are imported, not judged."""
    # With the settings, and the cache, of `make check`.
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *(["--follow-imports=silent"] if beside else [])]
    environment = {**os.environ, "MYPYPATH": str(beside or "")}
    return subprocess.run([*command, *map(str, modules)], capture_output=True, text=True, check=False, cwd=CHECKOUT, env=environment).stdout
