"""A manifest tells what a crash left to do, and nothing where nothing had begun or all was done."""

import os
from pathlib import Path

import pytest

from haproxy_native.disk.journal import Manifest, ManifestEntry


@pytest.fixture
def entries(tmp_path: Path) -> list[ManifestEntry]:
    made = [ManifestEntry(str(tmp_path / name), b"old " + name.encode(), b"new " + name.encode()) for name in "abc"]
    for entry in made:
        Path(entry.path).write_bytes(entry.old)
    return made


@pytest.mark.parametrize(
    ("states", "left"), [("ooo", ""), ("noo", "bc"), ("nno", "c"), ("nnn", ""), ("nxo", "c"), ("xoo", ""), ("n-o", "c"), ("ono", "ac")]
)
def test_what_is_left(tmp_path: Path, entries: list[ManifestEntry], states: str, left: str) -> None:
    manifest = Manifest(tmp_path / "manifest", os)
    manifest.begin(entries)
    for state, entry in zip(states, entries, strict=True):
        if state == "-":
            Path(entry.path).unlink()
        else:
            Path(entry.path).write_bytes({"o": entry.old, "n": entry.new, "x": b"other"}[state])
    assert "".join(Path(entry.path).name for entry in manifest.rest()) == left
    manifest.end()
    manifest.end()
    assert manifest.rest() == []
    assert not manifest.path.exists()


@pytest.mark.parametrize("content", [b"", b"{}\n", b'{"files": [], "md5": "0"}\nx', b"[]\n"])
def test_a_broken_one_is_none(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "manifest").write_bytes(content)
    assert Manifest(tmp_path / "manifest", os).rest() == []
