"""Paths of files in a directory, with every kind of link on the way."""

from pathlib import Path

import pytest

from haproxy_native.storage.store import real_path


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text("secret")
    inside = tmp_path / "inside"
    (inside / "..2026").mkdir(parents=True)
    (inside / "..2026" / "a").write_text("a")
    (tmp_path / "alias").symlink_to(inside)
    return inside


def content(directory: Path, name: str) -> str:
    return real_path(directory, name).read_text()


def test_links_that_stay_inside_are_followed(directory: Path) -> None:
    (directory / "..data").symlink_to("..2026")
    (directory / "mounted").symlink_to("..data/a")
    (directory / "absolute").symlink_to(directory / "..2026" / "a")
    (directory / "around").symlink_to("..2026/../..data/./a")
    (directory / "by-alias").symlink_to(directory.parent / "alias" / "..2026" / "a")
    assert [content(directory, name) for name in ("..2026/a", "mounted", "absolute", "around")] == ["a"] * 4
    assert content(directory.parent / "alias", "by-alias") == content(directory.parent / "alias", "absolute") == "a"


@pytest.mark.parametrize("target", ["../outside/secret", "{}/secret", "out/secret", "..2026/../../outside/secret", "..", "/", "self"])
def test_links_that_lead_out_are_not(directory: Path, target: str) -> None:
    (directory / "out").symlink_to("../outside")
    (directory / "self").symlink_to("self")
    (directory / "x").symlink_to(target.format(directory.parent / "outside"))
    with pytest.raises(OSError, match="a link leads out of the directory|Too many levels of symbolic links"):
        real_path(directory, "x")


def test_what_is_not_there(directory: Path) -> None:
    (directory / "dangling").symlink_to("none")
    for name in ("none", "dangling", "..2026/none"):
        with pytest.raises(FileNotFoundError):
            real_path(directory, name)
