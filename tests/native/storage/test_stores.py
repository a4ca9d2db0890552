"""All stores together."""

from pathlib import Path

import pytest

from haproxy_native.disk.directories import Directory
from haproxy_native.storage.stores import KINDS, Stores


def test_an_unusable_one_does_not_keep_the_others(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "maps").touch()
    left = tmp_path / "general" / ".x.00000000-0000-4000-8000-000000000000"
    left.parent.mkdir()
    left.touch()
    stores = Stores({name: Directory(tmp_path / name, f"{name}_dir") for name in KINDS}, tmp_path / "state")
    stores.recover()
    assert not left.exists()
    assert "maps_dir" in caplog.text
