"""Map files."""

from pathlib import Path

import pytest

from native.config.directories import Directory
from native.storage.map_store import MapStore


@pytest.mark.parametrize(("upload", "stored"), [("hosts", "hosts.map"), ("hosts.map", "hosts.map"), ("list.txt", "list.txt.map"), ("", "")])
def test_names(tmp_path: Path, upload: str, stored: str) -> None:
    store = MapStore("maps", Directory(tmp_path, "maps_dir"), tmp_path)
    assert store.name_of(upload) == stored
    if stored:
        (tmp_path / stored).touch()
        assert store.find(upload).name == store.find(stored).name == stored
