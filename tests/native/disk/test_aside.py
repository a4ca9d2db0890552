"""Drafts that never become files leave nothing where files are."""

import asyncio
import os
from pathlib import Path

import pytest

from haproxy_native.disk.file import ConfigFile, drafts_aside, drafts_directory


def test_a_draft_elsewhere(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    file = ConfigFile(tmp_path / "file", tmp_path / "state")

    async def work() -> Path:
        async with drafts_aside(), drafts_aside():
            used = drafts_directory.get()
            draft = file.draft(b"new", "name")
            assert used and draft.path.parent == used and draft.path.read_bytes() == b"new"
            with pytest.raises(AssertionError):
                draft.install()
            draft.discard()
        return used

    used = asyncio.run(work())
    assert not used.exists() and os.listdir(tmp_path) == ["file"] and file.read() == b"old"


def test_only_where_it_is_wanted() -> None:
    async def work() -> None:
        async with drafts_aside(wanted=False):
            assert drafts_directory.get() is None

    asyncio.run(work())
