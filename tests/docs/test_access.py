"""Load the settings that docs/access.md shows."""

import re
from typing import Any

import pytest
import yaml

from dataplaneapi.settings.roles import read_roles
from tests.rules.sources import CHECKOUT

BLOCKS = re.findall(r"^    dataplaneapi:\n(?:      .*\n)+", (CHECKOUT / "docs" / "access.md").read_text(), re.MULTILINE)
SETTINGS: list[dict[str, Any]] = [yaml.safe_load(block)["dataplaneapi"] for block in BLOCKS]
WITH_ROLES = [each for each in SETTINGS if {"roles", "role_of"} & set(each)]


@pytest.mark.parametrize("settings", WITH_ROLES, ids=lambda settings: ",".join(settings.get("roles", ["predefined"])))
def test_settings(settings: dict[str, Any]) -> None:
    roles = read_roles(settings.get("roles", {}), settings.get("role_of", {}), settings.get("user", []))
    assert roles is not None and set(settings.get("roles", {})) <= set(roles.rules)


def test_the_examples_are_there() -> None:
    assert len(WITH_ROLES) >= 4
