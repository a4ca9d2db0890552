"""Verify the unit files with systemd. tests/e2e runs them."""

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from dataplaneapi.cli import SETTINGS_FILE
from dataplaneapi.doctor.checks import UNIT_USER
from dataplaneapi.host.credentials import UNIT_USERS
from tests.rules.sources import CHECKOUT

UNITS = CHECKOUT / "systemd"
pytestmark = pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd-analyze is not here: units are not judged")


def analyze(*words: str, root: Path) -> str:
    ran = subprocess.run(["systemd-analyze", *words], cwd=root, capture_output=True, text=True, check=False)
    return ran.stdout + ran.stderr


@pytest.fixture
def unit(tmp_path: Path) -> Path:
    """Return the unit of the service, with a program that exists."""
    text = (UNITS / "dataplaneapi.service").read_text().replace("ExecStart=dataplaneapi", "ExecStart=/bin/true")
    (tmp_path / "dataplaneapi.service").write_text(text)
    for needed in UNITS.glob("*.socket"):
        shutil.copy(needed, tmp_path)
    return tmp_path / "dataplaneapi.service"


def exposure(unit: Path) -> float:
    found = re.search(r"Overall exposure level for \S+: ([\d.]+)", analyze("security", "--offline=true", str(unit), root=unit.parent))
    assert found
    return float(found[1])


def test_nothing_is_wrong(unit: Path) -> None:
    assert analyze("verify", "--man=no", str(unit), *map(str, unit.parent.glob("*.socket")), root=unit.parent) == ""


@pytest.mark.parametrize("name", ["dataplaneapi-follow@edge", "dataplaneapi-events"])
def test_nothing_is_wrong_with_the_units_of_ctl(tmp_path: Path, name: str) -> None:
    text = (UNITS / f"{name.removesuffix('edge')}.service").read_text().replace("ExecStart=dataplaneapi", "ExecStart=/bin/true")
    (tmp_path / f"{name}.service").write_text(text)
    assert analyze("verify", "--man=no", f"{name}.service", root=tmp_path) == ""
    assert exposure(tmp_path / f"{name}.service") <= 2


def test_little_is_exposed(unit: Path) -> None:
    assert exposure(unit) <= 1.1


def test_less_without_a_network(unit: Path) -> None:
    drop_in = (UNITS / "local-only.conf").read_text().partition("[Service]\n")[2]
    unit.write_text(unit.read_text().replace("[Service]\n", f"[Service]\n{drop_in}"))
    assert exposure(unit) <= 0.7


def test_a_mistake_would_be_seen(unit: Path) -> None:
    unit.write_text(unit.read_text().replace("ProtectSystem=strict", "ProtectSystem=string"))
    assert "Failed to parse protect system value" in analyze("verify", "--man=no", str(unit), root=unit.parent)
    assert exposure(unit) > 1.1


def test_it_hands_over_the_users_that_the_doctor_looks_for() -> None:
    text = (UNITS / "dataplaneapi.service").read_text()
    assert f"LoadCredential=users:{UNIT_USERS}\n" in text
    assert f"User={UNIT_USER}\n" in text


def test_it_reads_the_file_that_the_command_reads() -> None:
    assert f"-f {SETTINGS_FILE}\n" in (UNITS / "dataplaneapi.service").read_text()
