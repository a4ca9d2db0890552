"""Owners are told by name where they have one."""

import os
import pwd
from pathlib import Path

import pytest

from native.config import ownership


def test_the_nearest_that_exists(tmp_path: Path) -> None:
    tmp_path.chmod(0o750)
    me = pwd.getpwuid(os.geteuid()).pw_name
    assert ownership.told(tmp_path / "none" / "below").startswith(f"{tmp_path} belongs to {me}:")
    assert ownership.told(tmp_path).endswith(f", mode 0750, and this process runs as {me}")


@pytest.mark.skipif(os.geteuid() != 0, reason="needs to give a file away")
def test_numbers_without_a_name(tmp_path: Path) -> None:
    os.chown(tmp_path, 54321, 54322)
    assert f"{tmp_path} belongs to 54321:54322, " in ownership.told(tmp_path)
