"""The locked versions are those that pyproject.toml requires, each with its hash."""

import re
import tomllib

import pytest
from packaging.requirements import Requirement

from tests.rules.sources import CHECKOUT

PROJECT = tomllib.loads((CHECKOUT / "pyproject.toml").read_text())["project"]
OPTIONAL = PROJECT["optional-dependencies"]
LOCKS = {
    "runtime": PROJECT["dependencies"],
    "extras": [text for name, asked in OPTIONAL.items() if name != "dev" for text in asked],
    "dev": OPTIONAL["dev"],
    "build": ["hatchling>=1.27", "editables"],
    "docs": (CHECKOUT / "requirements/docs.in").read_text().split("\n")[:-1],
    "release": ["cyclonedx-bom>=7,<8"],
    "uv": ["uv"],
}


def locked(name: str) -> dict[str, str]:
    text = (CHECKOUT / f"requirements/{name}.txt").read_text()
    return dict(re.findall(r"^([a-z0-9-]+)==(\S+)", text, re.MULTILINE))


@pytest.mark.parametrize("name", LOCKS)
def test_lock_is_what_was_asked_for(name: str) -> None:
    versions = locked(name)
    asked = [Requirement(text) for text in LOCKS[name]]
    assert [str(each) for each in asked if not each.specifier.contains(versions.get(each.name.replace(".", "-"), "none"))] == []


@pytest.mark.parametrize("name", [*LOCKS, "haproxy"])
def test_every_version_has_its_hash(name: str) -> None:
    entries = re.split(r"\n(?=\S)", re.sub(r"^#.*\n", "", (CHECKOUT / f"requirements/{name}.txt").read_text(), flags=re.MULTILINE))
    assert [entry for entry in entries if "--hash=sha256:" not in entry] == []


def test_locks_agree() -> None:
    assert locked("runtime").items() <= locked("extras").items() <= locked("dev").items()
