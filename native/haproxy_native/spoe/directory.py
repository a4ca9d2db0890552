"""Create, list, change and delete the SPOE files of one directory, by name.

Each call reads the directory again, so it sees a file that another process has just created. Names with a slash, and links that lead out
of the directory, do not address a file.
"""

import os
import re
from asyncio import to_thread
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from haproxy_native.changes.operations import PutDocument
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.editing.header import without_versions
from haproxy_native.errors import BadValue, Exists, Missing, NotFound, Unreadable, Unusable
from haproxy_native.request_context import Author
from haproxy_native.spoe.file import SpoeFile
from haproxy_native.spoe.store import PutSpoe, SpoeStore
from haproxy_native.text.document import Document

FIRST_LINE = b"# _version=1\n"
# Names that the API can address; a draft beside the file has a longer one.
_NAME = re.compile(r'[^./\r\n<>*;$#&{}"\0][^/\r\n<>*;$#&{}"\0]*')
_LONGEST_NAME = 200


class SpoeFiles:
    """The SPOE files of one directory. Each file is opened at its first use. Call `recover` once at the start."""

    def __init__(self, store: SpoeStore) -> None:
        self._store = store
        self._open: dict[str, SpoeFile] = {}

    def recover(self) -> None:
        """Complete the writes that a crash interrupted. Skip files that cannot be read. Blocks."""
        with suppress(Unusable):
            for path in self.list() if self._store.directory.exists() else ():
                with suppress(Unreadable, Missing):
                    self.file(path.name)

    def list(self) -> list[Path]:
        """Return the paths of all files, sorted by name. Raises Unusable. Blocks."""
        names = sorted(os.listdir(self._store.home.readable()))
        return [path for name in names if (path := self._path(name))]

    def file(self, name: str) -> SpoeFile:
        """Return the handle of a file. An edit by another process becomes the next version. Blocks.

        Raises NotFound, Unreadable and Unusable.
        """
        self._store.home.readable()
        if (path := self._path(name)) is None:
            self._open.pop(name, None)
            raise NotFound(f"client {name} not configured")
        if known := self._open.get(name):
            known.notice()
            return known
        opened = SpoeFile(path, self._store)
        opened.open()
        self._open[name] = opened
        return opened

    def text(self, name: str) -> str:
        """Return the text of a file. Raises Missing, Unreadable and Unusable."""
        try:
            return self.file(name).read().text
        except NotFound:
            raise Missing(f"spoe file {name} does not exist") from None

    async def create(self, name: str, data: bytes, author: Author) -> tuple[Path, Outcome]:
        """Create a file named after the last path segment of `name`. Return (path, outcome). Adds a version line if `data` has none.

        Raises BadValue, Exists, Refused, WriteFailed and Unusable.
        """
        name = name.rpartition("/")[2]
        if not _NAME.fullmatch(name) or len(os.fsencode(name)) > _LONGEST_NAME:
            rule = f'no dot in front, none of <>*;$#&{{}}", {_LONGEST_NAME} bytes at most'
            raise BadValue(f"'{name}' is not the name of a SPOE file: {rule}")
        path = self._store.home.writable() / name
        data = data if b"# _version=" in data else FIRST_LINE + data

        async def make() -> tuple[None, bytes]:
            if await to_thread(os.path.lexists, path):
                raise Exists(f"file {path} already exists. You should delete an existing file first")
            return None, data

        outcome = await commit(self._store.context, Change([PutSpoe(self._store, path, make)], author=author))
        # Drop the handle of a deleted file of the same name.
        self._open.pop(name, None)
        return path, replace(outcome, version=self.file(name).version())

    async def change(self, name: str, edit: Callable[[bytes | None], bytes | None], author: Author) -> Outcome:
        """Call `edit` with the content of a file, but without the version line, and write the content that `edit` returns.

        For a missing file, `edit` is called with None. If `edit` returns None, the file is deleted.

        Raises what `create` and `delete` raise.
        """
        try:
            file = self.file(name)
        except NotFound:
            data = edit(None)
            return Outcome(0, live=True) if data is None else (await self.create(name, data, author))[1]
        data = edit(without_versions(file.read().data))
        if data is None:
            await self.delete(name, author)
            return Outcome(0, live=True)
        return await file.write([PutDocument(Document.parse(data, self._store.outline))], author=author)

    async def delete(self, name: str, author: Author) -> None:
        """Delete a file, if it exists. Raises InUse, Missing for a malformed name, and Unusable."""
        if not _NAME.fullmatch(name):
            raise Missing(f"spoe file {name} does not exist")
        with suppress(NotFound):
            await self.file(name).remove(author=author)
        self._open.pop(name, None)

    def _path(self, name: str) -> Path | None:
        """Return the path of a file. Return None if the file does not exist, or if a link leads out of the directory."""
        home = self._store.directory
        path = home / name
        if not _NAME.fullmatch(name) or not os.path.isfile(path):
            return None
        return path if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(home)) else None
