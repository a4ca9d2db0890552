"""Run programs that set DNS records for ACME. Only programs of the settings run, not those that the configuration names."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.quick import SERVICES, Quick
from tests.haproxy import binaries
from tests.haproxy.acme import ZONE, Authority, NameServer, configuration
from tests.haproxy.process import HAProxy, free_port
from tests.until import until

CHALLENGE = """\
  challenge dns-01
  provider-name exec
  acme-vars "command={program}"
"""
RECORD = "#!/bin/sh\ntr '\\0' '\\n' < /proc/$$/environ > {seen}\nid > {seen}.id\n"
SECRET = "SECRET_OF_THE_SERVER"
TOLD = {"ACTION", "ZONE", "REC_NAME", "REC_TTL", "REC_TYPE", "REC_DATA"}


@contextmanager
def renewing(directory: Path, program: Path, monkeypatch: pytest.MonkeyPatch, **settings: Any) -> Iterator[Quick]:
    """Run a server and an authority, and a HAProxy whose configuration names the program."""
    monkeypatch.setenv(SECRET, "secret")
    monkeypatch.setenv("DPAPI_ACME_PROPAGTIMEOUT_SEC", "-1")
    with NameServer(directory / "knot") as names, Authority(directory / "pebble", names) as authority:
        challenge = CHALLENGE.format(program=program)
        config = configuration(directory, free_port(), f"site.{ZONE}", authority.directory_url, challenge)
        with HAProxy(directory, config, binary=binaries.exactly("3.4")) as haproxy, Quick(haproxy, dataplaneapi=settings) as sidecar:
            yield sidecar


def renew(sidecar: Quick) -> None:
    answer = sidecar.put(f"{SERVICES}/runtime/acme", certificate="@sites/site.pem")
    assert answer.status_code == 200, answer.text


def failure(sidecar: Quick) -> str:
    (row,) = sidecar.get(f"{SERVICES}/runtime/acme").json()
    return str(row.get("error", ""))


def test_a_stored_file_that_the_configuration_names_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, seen = tmp_path / "general_storage_dir/tool.sh", tmp_path / "seen"
    program.parent.mkdir()
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    with renewing(tmp_path, program, monkeypatch, acme_programs=["/usr/bin/true"]) as sidecar:
        stored = sidecar.client.put(f"{SERVICES}/storage/general/tool.sh", files={"file_upload": ("tool.sh", RECORD.format(seen=seen))})
        sidecar.reloaded(stored)
        assert program.stat().st_mode & 0o100
        renew(sidecar)
        until(lambda: bool(failure(sidecar)) or seen.exists())
        assert failure(sidecar).endswith(f"acme-vars names {program}, which the setting acme_programs does not list")
        assert f"acme-vars names {program}" in sidecar.log.read_text()
    assert not seen.exists()


def test_a_program_of_the_settings_runs_with_few_variables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program, seen = tmp_path / "hook", tmp_path / "seen"
    program.write_text(RECORD.format(seen=seen))
    program.chmod(0o755)
    with renewing(tmp_path, program, monkeypatch, acme_programs=[str(program)]) as sidecar:
        renew(sidecar)
        until(lambda: Path(f"{seen}.id").exists(), sidecar.log.read_text())
        assert "acme-vars names" not in failure(sidecar)
    names = {line.partition("=")[0] for line in seen.read_text().splitlines()}
    assert names >= TOLD and SECRET not in names
    assert {name for name in names - TOLD if not name.startswith("LC_")} <= {"PATH", "HOME", "LANG", "LANGUAGE"}
