"""The command line, as the operator meets it."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from app import cli
from app.settings import SettingsError


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
    heavy = ("fastapi", "pydantic", "uvicorn", "asyncio", "ruamel", "json", "native")
    program = f"import sys, app.cli; app.cli.main(['--version']); print([name for name in {heavy} if name in sys.modules])"
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
    ],
)
def test_what_is_refused_is_said_on_both_outputs(argv: list[str], message: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        cli.main(argv)
    assert end.value.code == 1
    said = capsys.readouterr()
    assert message in said.out
    assert said.out == said.err


def test_spellings() -> None:
    given = cli.arguments(
        ["-c=/a", "--host=h", "--port", "5", "-i", "--scheme", "http", "--scheme=unix", "stray", "-d", "3", "--log-level", "info"]
    )
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
    assert cli.settings(["-f", path], {}).file == path
    assert capsys.readouterr().out == f"configuration file {path} does not exists, creating one\n"


def test_an_empty_name_means_no_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.settings(["-f", ""], {}).file == ""
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
    found = cli.settings(["-f", settings_file(tmp_path, "dataplaneapi: {prot: 5}\n"), "--log-to=stdout"], {})
    assert any("did you mean dataplaneapi.port?" in warning for warning in found.warnings)
    assert any("without effect" in warning for warning in found.warnings)


def test_environment_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / ".env"
    path.write_text('# ours\nDPAPI_NEW=a b\nexport DPAPI_QUOTED="x # y"\nDPAPI_SET=new\nno line\nDPAPI_COMMENT=v # why\n')
    for name in ("DPAPI_NEW", "DPAPI_QUOTED", "DPAPI_COMMENT"):
        monkeypatch.setenv(name, "")
        monkeypatch.delenv(name)
    monkeypatch.setenv("DPAPI_SET", "old")
    cli.load_environment(str(path))
    assert [os.environ[name] for name in ("DPAPI_NEW", "DPAPI_QUOTED", "DPAPI_SET", "DPAPI_COMMENT")] == ["a b", "x # y", "old", "v"]
    cli.load_environment(str(tmp_path / "none"))
