"""Definitions of an old settings file."""

import asyncio
import json
import logging
from pathlib import Path

import pytest

from dataplaneapi.assembly import create_app
from dataplaneapi.open_engine import open_engine
from dataplaneapi.settings.migration import migrate
from dataplaneapi.settings.table import combine
from dataplaneapi.settings.yaml_file import read
from tests.app.client import settings

YAML = """\
# kept
name: test   # mine
service_discovery:
  consuls:
    - {id: 5a7e2b0c-0000-4000-8000-000000000001, address: 127.0.0.1, port: 9, enabled: false, retry_timeout: 10}
  aws_regions:
    - {name: r, region: eu-central-1, enabled: false, retry_timeout: 10, ipv4_address: private}
haproxy: {}
"""


def migrated(directory: Path, text: str) -> tuple[str, dict[str, list]]:
    """The settings file after it, and the definitions."""
    file = directory / "dataplaneapi.yaml"
    file.write_text(text)
    (directory / "haproxy.cfg").write_text("global\n")
    definitions = combine({}, {}, read(str(file)), file=str(file)).service_discovery

    async def work() -> dict[str, list]:
        given = settings(directory, file=str(file), service_discovery=definitions)
        async with open_engine(given) as engine:
            discovery = create_app(given, engine).services.discovery
            migrate(given, discovery)
            return {kind: each.list_all() for kind, each in discovery.kinds.items()}

    found = asyncio.run(work())
    return file.read_text(), found


def test_they_move_once(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    _, found = migrated(tmp_path, YAML)
    text = (tmp_path / "dataplaneapi.yaml").read_text()
    assert text == "# kept\nname: test   # mine\nhaproxy: {}\n"
    assert [each["id"] for each in found["consul"]] == ["5a7e2b0c-0000-4000-8000-000000000001"]
    assert [(each["name"], each["server_slots_base"]) for each in found["aws"]] == [("r", 10)]
    kept = json.loads((tmp_path / "storage/service_discovery/consul.json").read_text())["consuls"]
    assert kept == found["consul"]
    assert "[CFG DEPRECATED] [MIGRATE] [Consul] [5a7e2b0c-0000-4000-8000-000000000001]: migrating. Old location [" in caplog.text
    assert "[MIGRATE] [AWS Region] [r]" in caplog.text
    caplog.clear()
    _, again = migrated(tmp_path, YAML)
    assert again == found
    assert "[SKIP] [Consul]" in caplog.text and "[SKIP] [AWS Region] [r]: already migrated." in caplog.text
    assert "service_discovery" not in (tmp_path / "dataplaneapi.yaml").read_text()


def test_what_cannot_be_taken_over_stays(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    text = "service_discovery:\n  consuls:\n    - {address: 127.0.0.1}\n"
    after, found = migrated(tmp_path, text)
    assert (after, found["consul"]) == (text, [])
    assert "a definition has no port" in caplog.text


def test_without_any_nothing_happens(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.WARNING)
    assert migrated(tmp_path, "name: x\n")[0] == "name: x\n"
    assert "DEPRECATED" not in caplog.text
