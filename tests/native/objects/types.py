"""What a type checker reports."""

import fcntl
import os
import subprocess
import sys
from pathlib import Path

from tests.rules.sources import CHECKOUT


def types(*modules: Path, beside: Path | None = None) -> str:
    """What mypy reports of modules, as strictly as it can; empty if it has no objection. Packages in `beside` are imported, not judged."""
    # With the settings, and so with the cache, of `make check`. Two processes that write one cache can each read half of the other's.
    cache = CHECKOUT / ".mypy_cache"
    cache.mkdir(exist_ok=True)
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", *map(str, modules)]
    environment = {**os.environ, "MYPYPATH": str(beside or "")}
    with (cache / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=CHECKOUT, env=environment)
    assert done.returncode < 2, done.stdout + done.stderr
    # Not by the whole path: mypy repeats an error of an unchanged file with the path that the file had when it was checked.
    lines = done.stdout.splitlines(keepends=True)
    return "".join(line for line in lines if not (beside and f"{os.sep}{beside.name}{os.sep}" in line.partition(":")[0]))
