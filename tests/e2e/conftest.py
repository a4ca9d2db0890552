"""What the machines get: packages made from this checkout."""

import shutil
import subprocess
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
    """This project and all it depends on."""
    if reason := missing():
        pytest.skip(reason)
    directory = tmp_path_factory.mktemp("wheels")
    make("wheels", str(directory))
    return directory


@pytest.fixture(scope="session")
def newer(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    """A wheel of the next version."""
    copy = tmp_path_factory.mktemp("newer") / "checkout"
    shutil.copytree(CHECKOUT, copy, symlinks=True, ignore=shutil.ignore_patterns(".venv", ".git", "tests", "__pycache__", "dist"))
    version = copy / "app/version.py"
    version.write_text(version.read_text().replace('VERSION = "v3.4.0"', f'VERSION = "v{NEWER}"'))
    words = [str(CHECKOUT / ".venv/bin/python"), "-m", "hatchling", "build", "--target", "wheel", "--directory", str(copy / "dist")]
    subprocess.run(words, cwd=copy, check=True, capture_output=True)
    (wheel,) = (copy / "dist").glob("*.whl")
    return wheel


@pytest.fixture(scope="session")
def deb(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    return Path(make("deb", str(tmp_path_factory.mktemp("deb")), str(wheels)))
