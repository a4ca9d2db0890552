"""Open an engine from settings."""

import asyncio
import dataclasses
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from dataplaneapi.open_engine import (
    STORED,
    engine_settings,
    look_for_sockets,
    open_engine,
    prepare_storage,
    reload_command,
    reload_delay,
    status_command,
    warn_if_loadable,
    warn_if_unconfined,
)
from dataplaneapi.settings.table import Settings, SettingsError
from haproxy_native import sandbox
from haproxy_native.disk.directories import Directory
from haproxy_native.errors import Unreadable
from haproxy_native.runtime.client import Runtime
from tests.app.client import CONFIG, serving, settings


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"reload_cmd": "systemctl reload 'my haproxy'"}, ["systemctl", "reload", "my haproxy"]),
        ({"reload_strategy": "systemd"}, ["sudo", "-n", "systemctl", "reload", "haproxy.service"]),
        ({"reload_strategy": "systemd", "service_name": "lb"}, ["sudo", "-n", "systemctl", "reload", "lb"]),
        ({"reload_strategy": "s6"}, ["s6-svc", "-2", "/var/run/service/haproxy"]),
        ({"reload_strategy": "s6", "reload_cmd": "mine"}, ["mine"]),
        ({"master_worker_mode": True, "master_runtime": "/m.sock"}, []),
    ],
)
def test_reload_commands(given: dict[str, Any], words: list[str]) -> None:
    assert reload_command(dataclasses.replace(Settings(), **given)) == words


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({}, "the custom reload strategy requires these options to be set: ReloadCmd"),
        ({"master_runtime": "/m.sock"}, "the custom reload strategy requires"),
        ({"reload_strategy": "native"}, "invalid reload strategy: 'native'"),
        ({"reload_cmd": "say 'what"}, "reload_cmd: cannot be split into words"),
    ],
)
def test_no_way_to_reload(given: dict[str, Any], said: str) -> None:
    with pytest.raises(SettingsError, match=said):
        reload_command(dataclasses.replace(Settings(), **given))


@pytest.mark.parametrize(
    ("delay", "override", "seconds"), [(3, None, 3.0), (0, None, 5.0), (3, "250", 0.25), (3, "0", 5.0), (3, "soon", 5.0), (3, "", 5.0)]
)
def test_reload_delays(delay: int, override: str | None, seconds: float) -> None:
    assert reload_delay(Settings(reload_delay=delay), override) == seconds


def test_all_places(tmp_path: Path) -> None:
    made = engine_settings(settings(tmp_path, backups_dir="/b", backups_number=3, validate_files_before=["/x"], disable_inotify=False))
    assert (made.file, made.storage, made.backups, made.backups_number) == (
        tmp_path / "haproxy.cfg",
        tmp_path / "storage" / "engine",
        Path("/b"),
        3,
    )
    assert (made.check.before, made.check.command, made.watch) == (("/x",), "true", True)
    assert engine_settings(settings(tmp_path)).backups is None


def test_sockets_of_the_file(tmp_path: Path) -> None:
    given = settings(tmp_path, master_runtime="/m.sock")
    Path(given.config_file).write_text("global\n  stats socket /s.sock level admin\n")
    runtime = Runtime()
    look_for_sockets(runtime, given)
    assert runtime.address == "/m.sock, /s.sock"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    async def start() -> None:
        async with open_engine(settings(tmp_path)):
            pass

    with pytest.raises(Unreadable, match=r"haproxy\.cfg"):
        asyncio.run(start())


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"reload_strategy": "systemd"}, ["systemctl", "--quiet", "is-active", "haproxy.service"]),
        ({"reload_strategy": "s6", "service_name": "/s"}, ["s6-svstat", "-u", "/s"]),
        ({"reload_strategy": "s6", "status_cmd": "mine"}, ["mine"]),
        ({}, []),
    ],
)
def test_status_commands(given: dict[str, Any], words: list[str]) -> None:
    assert status_command(dataclasses.replace(Settings(), **given)) == words


def test_places_of_libraries_are_reported(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    flags = {"stored": 0, "mounted": os.ST_NOEXEC}
    for name in flags:
        (tmp_path / name).mkdir()
    monkeypatch.setattr(os, "statvfs", lambda place: SimpleNamespace(f_flag=flags[Path(place).name]))
    warn_if_loadable([tmp_path / "mounted", tmp_path / "missing"])
    assert caplog.text == ""
    warn_if_loadable([tmp_path / "mounted", tmp_path / "stored", tmp_path / "stored"])
    (record,) = caplog.records
    assert record.args == (str(tmp_path / "stored"),)


def test_a_check_that_is_not_confined_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture) -> None:
    script = tmp_path / "haproxy"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o755)
    program = dataclasses.replace(settings(tmp_path), haproxy_bin=os.path.realpath(sys.executable), validate_cmd="")
    lacks: list[str] = []
    monkeypatch.setattr(sandbox, "missing_confinement", lambda: lacks)
    warn_if_unconfined(program)
    assert caplog.text == ""
    warn_if_unconfined(dataclasses.replace(program, haproxy_bin=str(script)))
    warn_if_unconfined(dataclasses.replace(program, validate_cmd="check"))
    lacks.append("it may change files")
    warn_if_unconfined(program)
    assert [record.message.split(":")[0] for record in caplog.records] == [
        f"{script} is a script, and confined as HAProxy is",
        "validate_cmd is not confined",
        f"{program.haproxy_bin} -c is not confined",
    ]


def test_any_file_will_do(tmp_path: Path) -> None:
    given = settings(tmp_path)
    Path(given.config_file).write_bytes(b"\x00 what \xff is \n this?")

    async def start() -> int:
        async with open_engine(given) as engine:
            return engine.version()

    assert asyncio.run(start()) == 1


def test_the_storage_is_made_and_kept(tmp_path: Path) -> None:
    directory = tmp_path / "deep" / "storage"
    prepare_storage(Directory(directory, "dataplane_storage_dir"))
    (directory / "cluster.json").write_text("{}")
    prepare_storage(Directory(directory, "dataplane_storage_dir"))
    assert {str(path.relative_to(directory)) for path in directory.rglob("*.json")} == set(STORED)
    assert (directory / "cluster.json").read_text() == "{}"


def test_a_storage_that_cannot_be_keeps_nothing_from_starting(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "storage").write_text("")
    with serving(tmp_path) as client:
        assert client.post(f"{CONFIG}/backends?version=1", {"name": "b"}).status == 202
    assert f"dataplane_storage_dir {tmp_path}/storage cannot be used: Not a directory" in caplog.text


def test_what_only_the_server_reads_is_for_its_user_alone(tmp_path: Path) -> None:
    storage = tmp_path / "storage"
    storage.mkdir()
    (storage / "cluster.json").write_text('{"users": []}')
    (storage / "cluster.json").chmod(0o644)
    former = os.umask(0)
    try:
        prepare_storage(Directory(storage, "dataplane_storage_dir"))
    finally:
        os.umask(former)
    assert {name: (storage / name).stat().st_mode & 0o777 for name in STORED} == dict.fromkeys(STORED, 0o600)
    assert (storage / "cluster.json").read_text() == '{"users": []}'
