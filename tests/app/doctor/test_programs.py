"""The programs that settings, configuration and unit name."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from dataplaneapi.doctor.units import ExternalProgram, programs
from dataplaneapi.settings.table import Settings
from tests.app.client import CONFIGURATION, settings
from tests.rules.sources import CHECKOUT


@pytest.fixture
def given(tmp_path: Path) -> Settings:
    made = replace(
        settings(tmp_path), haproxy_bin="haproxy", master_worker_mode=True, master_runtime="/m.sock", reload_cmd="", validate_cmd=""
    )
    Path(made.config_file).write_text(CONFIGURATION)
    return made


def named(given: Settings, *places: Path) -> list[tuple[str, str]]:
    return [(each.name, each.key) for each in programs(given, places)][1:]


RELOAD, STATUS, CHECK = (f"haproxy.reload.{name}" for name in ("reload_cmd", "status_cmd", "validate_cmd"))


@pytest.mark.parametrize(
    ("changed", "expected"),
    [
        ({}, []),
        ({"reload_cmd": "systemctl reload haproxy"}, [("systemctl", RELOAD)]),
        ({"reload_strategy": "systemd"}, [("sudo", RELOAD), ("systemctl", RELOAD), ("systemctl", STATUS)]),
        ({"reload_strategy": "s6"}, [("s6-svc", RELOAD), ("s6-svstat", STATUS)]),
        ({"reload_strategy": "unknown"}, []),
        ({"acme_programs": ["/opt/set-record"]}, [("/opt/set-record", "dataplaneapi.acme_programs")]),
        ({"reload_cmd": "open 'quote", "status_cmd": "open 'quote", "validate_cmd": "open 'quote"}, []),
        ({"status_cmd": "/usr/bin/pgrep haproxy", "validate_cmd": "check %s"}, [("check", CHECK), ("/usr/bin/pgrep", STATUS)]),
    ],
)
def test_those_of_the_settings(changed: dict[str, Any], expected: list[tuple[str, str]], given: Settings) -> None:
    assert programs(given, ())[0].name == "haproxy"
    assert named(replace(given, **changed)) == expected


def test_that_of_the_unit(given: Settings) -> None:
    assert named(given, CHECKOUT / "systemd") == [("kill", "ExecReload= of dataplaneapi.service")]


def test_where_a_program_is_and_where_it_comes_from(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = ExternalProgram("kill", "ends it", "a setting")
    monkeypatch.setenv("PATH", str(tmp_path))
    assert program.path is None
    (tmp_path / "kill").write_text("#!/bin/sh\n")
    assert program.path is None, "nobody may run it"
    (tmp_path / "kill").chmod(0o755)
    assert program.path == str(tmp_path / "kill")
    assert program.remedy == "apt-get install procps, or name another one in a setting"
    assert ExternalProgram("/opt/own", "does it", "a setting").remedy == "name another one in a setting"
