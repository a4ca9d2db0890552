"""Use the command line as an operator does."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from dataplaneapi import cli
from dataplaneapi.settings.table import SettingsError
from tests.haproxy.forked import nursery


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    cli.main(["--version"])
    first, blank, build, date, end, *_ = capsys.readouterr().out.split("\n")
    assert first.startswith("HAProxy Data Plane API v3.")
    assert (blank, build[:11], date[:11], end) == ("", "Build from:", "Build date:", "")


@pytest.mark.parametrize("flag", ["-h", "--help"])
def test_help(flag: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main([flag])
    assert end.value.code == 0
    assert "--reload-strategy" in capsys.readouterr().out


def test_help_and_version_import_nothing_heavy() -> None:
    heavy = ("fastapi", "pydantic", "uvicorn", "asyncio", "ruamel", "json", "haproxy_native")
    program = (
        f"import sys, dataplaneapi.cli; dataplaneapi.cli.main(['--version']); print([name for name in {heavy} if name in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


@pytest.mark.parametrize(
    ("argv", "message"),
    [
        (["--hots", "x"], "unknown flag `hots'; did you mean --host?"),
        (["--confg-file=/x"], "unknown flag `confg-file'; did you mean --config-file?"),
        (["--port", "many"], "'many' is not a number"),
        (["--read-timeout=soon"], "'soon' is not a duration"),
        (["--max-body-size=big"], "'big' is not a size"),
        (["--port"], "expected one argument"),
        (["--show-system-info=yes"], "ignored explicit argument"),
        (["doctr"], "unknown command `doctr'; did you mean doctor?"),
        (["chek", "-f", ""], "unknown command `chek'; did you mean check?"),
        (["serve"], "unknown command `serve'; there are backup, check, ctl, doctor, lint, restore and test"),
        (["clt"], "unknown command `clt'; did you mean ctl?"),
        (["-f", "", "ctl"], "`ctl' must be the first word: dataplaneapi ctl ..."),
        (["doctor", "all"], "unknown command `all'"),
        (["--fix"], "--fix belongs to doctor"),
        (["check", "--fix"], "--fix belongs to doctor"),
    ],
)
def test_what_is_refused_is_said_once(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    assert end.value.code == 1
    said = capsys.readouterr()
    assert said.err.count(message) == 1
    assert said.out == ""


def test_errors_hide_no_unknown_key_and_keep_nothing_from_being_corrected(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = settings_file(tmp_path, "dataplaneapi: {port: many}\ntransaction: {transaction_dir: /x}\n")
    with pytest.raises(SystemExit):
        cli.main(["doctor", "--fix", "-f", file])
    out, err = capsys.readouterr()
    assert "configuration error: dataplaneapi.port" in err
    assert "configuration warning: unknown key transaction in the settings file; did you mean dataplaneapi.transaction?" in err
    assert f"corrected settings are in {file}.fixed" in out
    assert "transaction_dir" in Path(f"{file}.fixed").read_text()


def test_all_that_is_wrong_is_said_at_once(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        cli.main(["--port", "many", "--hots", "x", "--read-timeout=soon", "--confg-file=/x"])
    assert len(capsys.readouterr().err.splitlines()) == 4
    text = "dataplaneapi: {port: many, scheme: [ftp], user: {name: x}, advertised: [1], tls: {tls_port: 70000}}\n"
    text += 'haproxy: {reload: {status_cmd: "\'"}}'
    with pytest.raises(SystemExit):
        cli.main(["check", "-f", settings_file(tmp_path, text)])
    said = capsys.readouterr().err.splitlines()
    for part in (
        "dataplaneapi.port must be a number",
        "'ftp'",
        "user must be a list",
        "advertised must be a map",
        "tls_port must be",
        "status_cmd",
    ):
        assert [line.startswith("configuration error: ") for line in said if part in line] == [True], part


def test_a_mistyped_command_writes_nothing(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "dataplaneapi.cli", "doctr", "-f", str(tmp_path / "new.yaml")], capture_output=True, text=True, check=False
    )
    assert (done.returncode, list(tmp_path.iterdir())) == (1, [])


@pytest.mark.parametrize("argv", [["doctor", "--help"], ["-h", "doctor"], ["check", "-h"]])
def test_the_help_of_a_command(argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    output = capsys.readouterr().out
    assert end.value.code == 0
    assert output.startswith(f"usage: dataplaneapi {'doctor' if 'doctor' in argv else 'check'} ")
    assert "--json" in output
    assert "--reload-strategy" not in output


@pytest.mark.parametrize("argv", [["--help"], ["--version"], ["doctor", "-f", ""], ["doctor", "--help"]])
def test_a_pipe_that_is_closed_gets_no_traceback(argv: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([sys.executable, "-m", "dataplaneapi.cli", *argv], stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    # argparse itself passes over a reader that has gone.
    assert (done.returncode in (0, 141), done.stderr) == (True, "")


def test_spellings() -> None:
    given = cli.arguments(["-c=/a", "--host=h", "--port", "5", "-i", "--scheme", "http", "--scheme=unix", "-d", "3", "--log-level", "info"])
    assert given == {
        "config_file": "/a",
        "host": "h",
        "port": 5,
        "show_system_info": True,
        "scheme": ["http", "unix"],
        "reload_delay": 3,
        "former": ["info"],
        "version": False,
    }


def settings_file(tmp_path: Path, text: str) -> str:
    path = tmp_path / "own.yaml"
    path.write_text(text)
    return str(path)


def test_flags_beat_the_file(tmp_path: Path) -> None:
    path = settings_file(tmp_path, "haproxy: {config_file: /from/yaml, haproxy_bin: /from/yaml}\n")
    found = cli.settings(["-f", path, "-c", "/from/flag"], {})
    assert (found.config_file, found.haproxy_bin, found.file) == ("/from/flag", "/from/yaml", path)


def test_a_missing_file_is_told_and_goes_on(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = str(tmp_path / "none.yaml")
    assert cli.settings(["-f", path, "-c", str(tmp_path / "haproxy.cfg")], {}).file == path
    assert capsys.readouterr().out == f"configuration file {path} does not exists, creating one\n"


def test_an_empty_name_means_no_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.settings(["-f", "", "-c", str(tmp_path / "haproxy.cfg")], {}).file == ""
    assert capsys.readouterr().out == ""


def test_not_yaml(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(["-f", settings_file(tmp_path, "global\n  daemon\n  maxconn: [\n")])
    assert end.value.code == 1
    assert "configuration error: configuration file" in capsys.readouterr().err


def test_a_settings_file_given_as_haproxy_cfg_is_used_as_one(tmp_path: Path) -> None:
    path = settings_file(tmp_path, "dataplaneapi: {port: 7}\nhaproxy: {config_file: /real.cfg}\n")
    found = cli.settings(["--config-file", path], {})
    assert (found.port, found.config_file, found.file) == (7, "/real.cfg", path)
    assert f"it is used as -f {path}" in found.warnings[0]


def test_but_not_beside_another(tmp_path: Path) -> None:
    path = settings_file(tmp_path, "dataplaneapi: {port: 7}\n")
    with pytest.raises(SettingsError, match="and -f names /other"):
        cli.settings(["-f", "/other", "-c", path], {})


def test_nor_as_what_the_file_itself_calls_haproxy_cfg(tmp_path: Path) -> None:
    path = settings_file(tmp_path, "")
    Path(path).write_text(f"haproxy: {{config_file: {path}}}\n")
    with pytest.raises(SettingsError, match="is a settings file of this server"):
        cli.settings(["-f", path], {})


def test_former_flags_and_unknown_keys_are_warned_about(tmp_path: Path) -> None:
    path = settings_file(tmp_path, "dataplaneapi: {prot: 5}\nhaproxy: {config_file: /nowhere/haproxy.cfg}\n")
    found = cli.settings(["-f", path, "--log-to=stdout"], {})
    assert any("did you mean dataplaneapi.port?" in warning for warning in found.warnings)
    assert any("no effect" in warning for warning in found.warnings)


def test_programs_of_doctor_get_neither_a_file_of_the_working_directory_nor_our_secrets(tmp_path: Path) -> None:
    (tmp_path / ".env").write_text(f"LD_AUDIT={tmp_path}/evil.so\nHOST=203.0.113.1\n")
    binary = tmp_path / "haproxy"
    binary.write_text(f"#!/bin/sh\nenv > {tmp_path}/seen\necho HAProxy version 3.0.0\n")
    binary.chmod(0o755)
    file = settings_file(tmp_path, f"haproxy: {{config_file: {tmp_path}/none.cfg, haproxy_bin: {binary}}}\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), "AWS_SECRET_ACCESS_KEY": "hidden", "OWN": "hidden"}
    command = [sys.executable, "-m", "dataplaneapi.cli", "doctor", "-f", file]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=environment)
    seen = (tmp_path / "seen").read_text()
    assert "PATH=" in seen and "evil.so" not in seen and "hidden" not in seen, seen
    assert "203.0.113.1" not in done.stdout + done.stderr


def test_a_fatal_error_is_told_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = f"haproxy: {{config_file: {tmp_path}/none.cfg}}\ndataplaneapi: {{resources: {{dataplane_storage_dir: {tmp_path}/own}}}}\n"
    monkeypatch.chdir(tmp_path)
    for target in ("", "log_targets: [{log_to: file, log_file: own.log}]\n"):
        file, printed = settings_file(tmp_path, text + target), tmp_path / f"printed{len(target)}"
        assert nursery().start(["-f", file, "--reload-cmd", "true"], printed).wait(60) == 1
        assert printed.read_text().count("none.cfg") == 1, printed.read_text()
