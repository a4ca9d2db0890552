"""Run the server without features: the core must not need any of them. `make core` runs more tests in this way."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / "tools" / "core"
# The start, its document, edits of the configuration, commands.
SOME = (
    "tests/app/handlers/test_information.py",
    "tests/app/handlers/configuration/test_named_child.py",
    "tests/app/handlers/runtime/test_servers.py",
)


def test_without_features() -> None:
    done = subprocess.run(
        [sys.executable, TOOL, "-q", "-n", "0", "-p", "no:cacheprovider", *SOME], stdout=subprocess.PIPE, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:]
