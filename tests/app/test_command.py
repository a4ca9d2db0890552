"""The command's first module: it imports the client or the server, never both."""

import subprocess
import sys

import pytest


@pytest.mark.parametrize(
    ("words", "imported", "spared"),
    [(["ctl", "--help"], "ctl.main", "cli"), (["--version"], "cli", "ctl"), (["test", "--help"], "features.routing_tests.command", "cli")],
)
def test_only_what_is_asked_for_is_imported(words: list[str], imported: str, spared: str) -> None:
    program = (
        f"import sys; sys.argv[1:] = {words}\ntry:\n    import dataplaneapi.command as it; it.main()\nfinally:\n    print(*sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    modules = done.stdout.splitlines()[-1].split()
    assert f"dataplaneapi.{imported}" in modules
    assert f"dataplaneapi.{spared}" not in modules
