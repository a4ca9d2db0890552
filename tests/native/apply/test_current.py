"""File, document and version agree, whoever writes."""

import asyncio
import os
from pathlib import Path

import pytest

from native.apply.current import Current
from native.apply.memory import MemoryFile
from native.config import header
from native.config.files import ConfigFiles
from native.errors import Unreadable
from native.text.document import Document

TEXT = "# _version=4\nglobal\n\nbackend a\n"


@pytest.fixture
def current(tmp_path: Path) -> Current:
    (tmp_path / "haproxy.cfg").write_text(TEXT)
    current = Current(ConfigFiles(tmp_path / "haproxy.cfg", tmp_path), MemoryFile(tmp_path / "engine.json"))
    current.open()
    return current


def test_opened(current: Current) -> None:
    assert (current.document.text, current.version, current.banner) == (TEXT, 4, True)
    assert current.touched() is None
    assert not current.notice()


def test_our_own_write_is_no_surprise(current: Current, tmp_path: Path) -> None:
    async def install() -> None:
        stamped, draft = current.prepare(Document.parse(TEXT + "backend b\n"), 5, False, "00000000-0000-4000-8000-000000000000")
        await current.install(stamped, draft, False)

    asyncio.run(install())
    assert current.touched() is None
    assert not current.notice()
    assert (current.version, current.banner) == (5, False)
    assert current.document.data == (tmp_path / "haproxy.cfg").read_bytes()
    assert header.checksum_fits(current.document.data)


def test_an_outsider_s_write_is_taken_over(current: Current, tmp_path: Path) -> None:
    before = current.document
    current.banner = False
    (tmp_path / "haproxy.cfg").write_text(TEXT + "backend b\n")
    assert current.touched()
    assert current.notice()
    assert (current.version, current.banner, current.touched()) == (5, True, None)
    assert current.document.text == TEXT + "backend b\n"
    assert current.document.sections[0] is before.sections[0], "what did not change is shared"


def test_a_fitting_checksum_does_not_hide_another_text(current: Current, tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_bytes(header.with_header(Document.parse("global\n"), 2, banner=True).data)
    assert current.notice()
    assert current.version == 5


def test_reading_again_does_not_count(current: Current, tmp_path: Path) -> None:
    (tmp_path / "haproxy.cfg").write_text("# _version=4\nglobal\n")
    current.open()
    assert (current.version, current.document.text) == (4, "# _version=4\nglobal\n")


def test_a_file_that_is_gone(current: Current, tmp_path: Path) -> None:
    os.unlink(tmp_path / "haproxy.cfg")
    with pytest.raises(Unreadable):
        current.notice()
    assert current.document.text == TEXT
    (tmp_path / "haproxy.cfg").write_text(TEXT)
    assert not current.notice(), "it came back as it was"
