"""Fixtures that build the packages to install on machines, from this checkout."""

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.machine import missing
from tests.rules.sources import CHECKOUT

NEWER = "3.4.99"


def make(program: str, *words: str, checkout: Path = CHECKOUT) -> str:
    done = subprocess.run([str(checkout / "packaging" / program), *words], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


@pytest.fixture(scope="session")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheels of this project and of its dependencies."""
    if reason := missing():
        pytest.skip(reason)
    directory = tmp_path_factory.mktemp("wheels")
    make("wheels", str(directory))
    return directory


@pytest.fixture(scope="session")
def newer(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    """Build a wheel with the next version number."""
    return wheel(tmp_path_factory.mktemp("newer") / "checkout", NEWER)


@pytest.fixture(scope="session")
def broken(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    """Build a wheel of a server that exits as soon as it starts to serve."""
    return wheel(
        tmp_path_factory.mktemp("broken") / "checkout",
        "3.4.98",
        {"app/dataplaneapi/program.py": 'raise SystemExit("this one does not serve")\n'},
    )


def wheel(copy: Path, number: str, changed: Mapping[str, str] | None = None) -> Path:
    shutil.copytree(CHECKOUT, copy, symlinks=True, ignore=shutil.ignore_patterns(".venv", ".git", "tests", "__pycache__", "dist"))
    version = copy / "app/dataplaneapi/version.py"
    version.write_text(version.read_text().replace('VERSION = "v3.4.0"', f'VERSION = "v{number}"'))
    for name, text in (changed or {}).items():
        (copy / name).write_text(text)
    words = [str(CHECKOUT / ".venv/bin/python"), "-m", "hatchling", "build", "--target", "wheel", "--directory", str(copy / "dist")]
    subprocess.run(words, cwd=copy, check=True, capture_output=True)
    (made,) = (copy / "dist").glob("*.whl")
    return made


@pytest.fixture(scope="session")
def deb(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    return Path(make("deb", str(tmp_path_factory.mktemp("deb")), str(wheels)))
