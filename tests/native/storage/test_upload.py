"""Content that arrives in pieces."""

import asyncio
from pathlib import Path

from haproxy_native.disk.directories import Directory
from haproxy_native.request_context import NOBODY
from haproxy_native.storage.store import PIECE
from haproxy_native.storage.stores import GeneralStore


def test_large_content_goes_to_the_disk_as_it_arrives(tmp_path: Path) -> None:
    async def arrive() -> None:
        store = GeneralStore("general", Directory(tmp_path / "general", "general_storage_dir"), tmp_path)
        upload = store.upload_new("large.bin", author=NOBODY)
        assert list(store.directory.iterdir()) == [], "nothing has arrived"
        await upload.append(b"x" * PIECE)
        (draft,) = store.directory.iterdir()
        assert draft.stat().st_size == PIECE
        await upload.append(b"y")
        assert (upload.size, draft.stat().st_size) == (PIECE + 1, PIECE)
        upload.discard()
        assert list(store.directory.iterdir()) == []

    asyncio.run(arrive())
