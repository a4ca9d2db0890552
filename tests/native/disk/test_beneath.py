"""Files opened below a directory, with every kind of link on the way."""

import os
import threading
import time
from pathlib import Path
from typing import Any

import pytest

from haproxy_native.disk import beneath


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
    with open(beneath.opened(directory, name)) as file:
        return file.read()


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
        beneath.opened(directory, "x")


def test_what_is_not_there(directory: Path) -> None:
    (directory / "dangling").symlink_to("none")
    for name in ("none", "dangling", "..2026/none"):
        with pytest.raises(FileNotFoundError):
            beneath.opened(directory, name)


def test_no_descriptor_is_left(directory: Path) -> None:
    (directory / "out").symlink_to("..2026/../../outside/secret")
    before = len(os.listdir("/proc/self/fd"))
    os.close(beneath.opened(directory, "..2026/a"))
    with pytest.raises(OSError, match="out of the directory"):
        beneath.opened(directory, "out")
    assert len(os.listdir("/proc/self/fd")) == before


def test_a_link_that_is_exchanged_meanwhile_never_leads_out(directory: Path) -> None:
    """Between a look at the path and its opening another process puts a link in place of a directory."""
    ended = threading.Event()
    inner, link = directory / "folder", directory / "link"
    (directory / "other").mkdir()
    (directory / "other" / "secret").write_text("a")

    def exchange() -> None:
        while not ended.is_set():
            link.symlink_to("../outside")
            link.rename(inner)
            inner.unlink()
            (directory / "other").rename(inner)
            inner.rename(directory / "other")

    thread = threading.Thread(target=exchange)
    thread.start()
    number = 0
    try:
        seen, deadline = set[Any](), time.monotonic() + 120
        while (number := number + 1) < 3000 or (len(seen) < 2 and time.monotonic() < deadline):
            try:
                seen.add(content(directory, "folder/secret"))
            except OSError as error:
                seen.add(type(error).__name__)
    finally:
        ended.set()
        thread.join()
    assert "secret" not in seen
    assert len(seen) > 1, "both states were met"
