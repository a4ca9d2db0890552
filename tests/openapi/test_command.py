"""Check that man page and completions have every flag, and that man and the shells accept them."""

import shutil
import subprocess
from pathlib import Path

import pytest

from dataplaneapi.ctl.main import COMMANDS
from dataplaneapi.settings.table import table
from openapi.command import SHELLS, client_manual, completion, manual

FLAGS = sorted({flag for _, source, _ in table() for flag in source.flags} | {"--help", "--version", "-f", "--json"})


@pytest.mark.parametrize("shell", SHELLS)
def test_completion_knows_every_flag(shell: str) -> None:
    text = completion(shell)
    assert [flag for flag in FLAGS if flag.lstrip("-") not in text] == []
    assert "doctor" in text


def test_bash_completes_flags_files_and_commands(tmp_path: Path) -> None:
    (tmp_path / "completion").write_text(completion("bash"))
    (tmp_path / "haproxy.cfg").touch()

    def completed(*words: str) -> set[str]:
        line = " ".join(f"'{word}'" for word in words)
        program = f"""
            shopt -s extglob; . ./completion
            function_of() {{ complete -p dataplaneapi | sed 's/.*-F \\([^ ]*\\).*/\\1/'; }}
            COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}
            $(function_of); printf '%s\\n' "${{COMPREPLY[@]}}"
        """
        done = subprocess.run(["bash", "-c", program], cwd=tmp_path, capture_output=True, text=True, check=True)
        return set(done.stdout.split())

    assert completed("dataplaneapi", "--reload-s") == {"--reload-strategy"}
    assert completed("dataplaneapi", "--config-file", "ha") == {"haproxy.cfg"}
    assert completed("dataplaneapi", "do") == {"doctor"}


def test_man_page_is_read_without_a_complaint() -> None:
    text = manual()
    assert [flag for flag in FLAGS if flag != "--help" and flag.replace("-", "\\-") not in text] == []
    assert ".SH SYNOPSIS" in text
    reader = shutil.which("groff")
    if reader is None:
        pytest.skip("no groff here")
    done = subprocess.run([reader, "-man", "-Tutf8", "-ww", "-z"], input=text, capture_output=True, text=True, check=True)
    assert done.stderr == ""


def test_the_page_of_the_client_has_every_command() -> None:
    text = client_manual()
    assert [name for name in COMMANDS if f"ctl {name}" not in text.replace("\\-", "-")] == []
    assert "DATAPLANECTL_PASSWORD_FILE" in text.replace("\\_", "_") and "--max-delete" in text.replace("\\-", "-")
