"""Check that the archives have all files of an installation, and all have the same version."""

import os
import re
import subprocess
import sys
import tarfile
import zipfile
from importlib import import_module
from pathlib import Path

import pytest

from dataplaneapi.version import VERSION
from tests.rules.sources import CHECKOUT

NUMBER = VERSION.removeprefix("v")


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp("dist")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "--directory", str(directory)], cwd=CHECKOUT, check=True, capture_output=True
    )
    return directory


def test_the_wheel(built: Path) -> None:
    with zipfile.ZipFile(built / f"dataplane_sidecar-{NUMBER}-py3-none-any.whl") as wheel:
        names = set(wheel.namelist())
    shared = f"dataplane_sidecar-{NUMBER}.data/data/share"
    assert {
        "haproxy_native/generated/dataplane.json",
        f"{shared}/man/man8/dataplaneapi.8",
        f"{shared}/dataplaneapi/dataplaneapi.yaml",
    } <= names
    assert {f"{shared}/dataplaneapi/systemd/{each.name}" for each in (CHECKOUT / "systemd").iterdir()} <= names
    roots = (CHECKOUT / "app", CHECKOUT / "native")
    ours = {path.relative_to(root).as_posix() for root in roots for path in root.rglob("*") if path.is_file()}
    assert {name.split("/")[0] for name in names if ".data/" not in name and ".dist-info/" not in name} == {
        "dataplaneapi",
        "haproxy_native",
    }
    assert {name for name in ours if "__pycache__" not in name} <= names
    assert not [name for name in names if name.startswith(("tests/", "bench/", "demo/"))]


def test_the_source_archive_builds_the_same_wheel(built: Path, tmp_path: Path) -> None:
    with tarfile.open(built / f"dataplane_sidecar-{NUMBER}.tar.gz") as archive:
        # Python 3.11.0 to 3.11.3 has no filters.
        archive.extractall(tmp_path, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    source = tmp_path / f"dataplane_sidecar-{NUMBER}"
    words = [sys.executable, "-m", "hatchling", "build", "--target", "wheel", "--directory", str(tmp_path)]
    subprocess.run(words, cwd=source, check=True, capture_output=True)
    name = f"dataplane_sidecar-{NUMBER}-py3-none-any.whl"
    assert (tmp_path / name).read_bytes() == (built / name).read_bytes()


def test_a_wheel_in_another_place_is_the_command(built: Path, tmp_path: Path) -> None:
    with zipfile.ZipFile(built / f"dataplane_sidecar-{NUMBER}-py3-none-any.whl") as wheel:
        wheel.extractall(tmp_path)
    words = [sys.executable, "-c", "import dataplaneapi.cli; dataplaneapi.cli.main(['--version']); print(dataplaneapi.cli.__file__)"]
    result = subprocess.run(
        words, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True, check=True
    )
    assert f"HAProxy Data Plane API {VERSION} " in result.stdout
    assert str(tmp_path) in result.stdout


def test_what_the_debian_package_calls_is_there() -> None:
    scripts = [(CHECKOUT / "packaging/debian" / name).read_text() for name in ("dataplaneapi", "postinst")]
    called = [re.findall(r"^from (\S+) import (\w+)$", text, re.MULTILINE) for text in scripts]
    assert all(called)
    assert [f"{module}.{name}" for found in called for module, name in found if not hasattr(import_module(module), name)] == []


def test_the_changes_are_told() -> None:
    assert f"\n## {NUMBER}\n" in (CHECKOUT / "CHANGELOG.md").read_text()
