"""Run `dataplaneapi lint` without a server, as a pipeline does, and once in a separate process."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from dataplaneapi.features.lint.command import main
from tests.app.command_line import call_main

FAULTY = "frontend f\n  bind :80\n  timeout client 1s\n  http-request deny if nothing\n"
CLEAN = "defaults\n  timeout client 1s\nfrontend f\n  bind 127.0.0.1:80\n"


def lint(*argv: str | Path, given: str = "") -> subprocess.CompletedProcess[str]:
    return call_main(main, *map(str, argv), text=given)


def test_as_a_process(tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_text(FAULTY)
    command = [sys.executable, "-m", "dataplaneapi.command", "lint", str(tmp_path / "a.cfg")]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    assert found.returncode == 1 and f"{tmp_path}/a.cfg:4: error: frontend f has no ACL 'nothing' [acl-undefined]" in found.stdout


def test_statuses(tmp_path: Path) -> None:
    (tmp_path / "a.cfg").write_text(FAULTY)
    assert lint(tmp_path / "a.cfg").returncode == 1
    assert lint("--fail-on", "never", tmp_path / "a.cfg").returncode == 0
    assert lint("-", given=CLEAN).returncode == 0
    for argv in ([tmp_path / "none.cfg"], [], ["--format", "xml", "-"]):
        assert (ran := lint(*argv)).returncode == 2 and ran.stderr and not ran.stdout
    (tmp_path / "nul.cfg").write_text("\0file:")
    assert lint(tmp_path / "a.cfg", tmp_path / "nul.cfg").returncode == 2
    (tmp_path / "empty").mkdir()
    assert lint(tmp_path / "empty").returncode == 2


@pytest.mark.parametrize("form", ["json", "sarif"])
def test_files_of_one_configuration(form: str, tmp_path: Path) -> None:
    (tmp_path / "1.cfg").write_text("defaults d\n  mode http\n  timeout client 1s\n  timeout http-request 1s\n")
    (tmp_path / "2.cfg").write_text("frontend f from d\n  bind :80\n  http-request deny if nothing\n")
    ran = lint("--format", form, tmp_path)
    found = json.loads(ran.stdout)
    rows = found if form == "json" else [each["ruleId"] for each in found["runs"][0]["results"]]
    assert ran.returncode == 1 and len(rows) == 1
    if form == "json":
        assert (rows[0]["id"], rows[0]["file"], rows[0]["line"]) == ("acl-undefined", f"{tmp_path}/2.cfg", 3)


def test_files_are_looked_at_when_asked(tmp_path: Path) -> None:
    text = f"{CLEAN}  errorfile 503 {tmp_path}/none.http\n"
    assert lint("-", given=text).returncode == 0
    assert "file-missing" in lint("--files", "-", given=text).stdout
