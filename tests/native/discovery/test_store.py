"""Definitions on disk."""

import json
from pathlib import Path

import pytest

from haproxy_native.discovery.definitions import DefinitionStore
from haproxy_native.disk.directories import Directory
from haproxy_native.errors import Unreadable, Unusable

CONSUL = {"port": 1, "address": "ä", "enabled": True, "retry_timeout": 5}


def store(path: Path) -> DefinitionStore:
    return DefinitionStore(Directory(path, "dataplane_storage_dir"), "consul.json", "consuls")


def test_what_is_written_is_read_back_by_its_owner_alone(tmp_path: Path) -> None:
    store(tmp_path).write([CONSUL])
    file = tmp_path / "service_discovery/consul.json"
    assert file.read_text() == json.dumps({"consuls": [dict(sorted(CONSUL.items()))]}, indent=2, ensure_ascii=False)
    assert file.stat().st_mode & 0o777 == 0o600
    assert store(tmp_path).read() == [CONSUL]


@pytest.mark.parametrize("text", [None, "", " \n", '{"consuls": []}', '{"consuls": null}'])
def test_none(tmp_path: Path, text: str | None) -> None:
    if text is not None:
        (tmp_path / "service_discovery").mkdir()
        (tmp_path / "service_discovery/consul.json").write_text(text)
    assert store(tmp_path).read() == []


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{", "does not contain valid consuls"),
        ("[" * 100_000, "does not contain valid consuls"),
        ("[]", "does not contain valid consuls"),
        ('{"aws": []}', "KeyError"),
        ('{"consuls": [{"port": 1}]}', "has no address"),
        (json.dumps({"consuls": [CONSUL | {"retry_timeout": "5"}]}), "retry_timeout: Input should be a valid integer"),
        (json.dumps({"consuls": [CONSUL | {"retry_timeout": None}]}), "retry_timeout: Input should be a valid integer"),
        (json.dumps({"consuls": [CONSUL | {"server_slots_base": "ten"}]}), "server_slots_base: Input should be a valid integer"),
        (json.dumps({"consuls": [CONSUL | {"service_allowlist": 5}]}), "service_allowlist: Input should be a valid list"),
    ],
)
def test_a_broken_file_is_told(tmp_path: Path, text: str, expected: str) -> None:
    (tmp_path / "service_discovery").mkdir()
    (tmp_path / "service_discovery/consul.json").write_text(text)
    with pytest.raises(Unreadable, match=expected):
        store(tmp_path).read()


def test_a_directory_that_cannot_be_used(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for work in (store(tmp_path / "file").read, lambda: store(tmp_path / "file").write([])):
        with pytest.raises(Unusable, match="dataplane_storage_dir"):
            work()
