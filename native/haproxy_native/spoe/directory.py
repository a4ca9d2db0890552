"""All SPOE files of one directory, by name.

A file that another process puts there is one of them at once; no name leads out of the directory.
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
# What the API can address; a draft beside the file has a longer name.
_NAME = re.compile(r'[^./\r\n<>*;$#&{}"\0][^/\r\n<>*;$#&{}"\0]*')
_LONGEST_NAME = 200


class SpoeFiles:
    """`recover` once at start."""

    def __init__(self, store: SpoeStore) -> None:
        self._store = store
        self._open: dict[str, SpoeFile] = {}

    def recover(self) -> None:
        """Finishes what a crash cut off."""
        with suppress(Unusable):
            for path in self.list() if self._store.directory.exists() else ():
                with suppress(Unreadable, Missing):
                    self.file(path.name)

    def list(self) -> list[Path]:
        """The paths, sorted. Raises Unusable."""
        names = sorted(os.listdir(self._store.home.readable()))
        return [path for name in names if (path := self._path(name))]

    def file(self, name: str) -> SpoeFile:
        """Returns the file as it is on disk now. Raises NotFound, Unreadable and Unusable."""
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
        """Raises Missing, Unreadable and Unusable."""
        try:
            return self.file(name).read().text
        except NotFound:
            raise Missing(f"spoe file {name} does not exist") from None

    async def create(self, name: str, data: bytes, author: Author) -> tuple[Path, Outcome]:
        """Under the last part of a name. Raises BadValue, Exists, Refused, WriteFailed and Unusable."""
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
        # What a deleted file of that name was counts no more.
        self._open.pop(name, None)
        return path, replace(outcome, version=self.file(name).version())

    async def change(self, name: str, wanted: Callable[[bytes | None], bytes | None], author: Author) -> Outcome:
        """Makes of what a file holds, its version line aside, what `wanted` returns for it; None is no file.

        Raises as `create` and `delete`.
        """

        try:
            file = self.file(name)
        except NotFound:
            data = wanted(None)
            return Outcome(0, live=True) if data is None else (await self.create(name, data, author))[1]
        data = wanted(without_versions(file.read().data))
        if data is None:
            await self.delete(name, author)
            return Outcome(0, live=True)
        return await file.write([PutDocument(Document.parse(data, self._store.outline))], author=author)

    async def delete(self, name: str, author: Author) -> None:
        """One that is not there is deleted already. Raises InUse, Missing for what is no name, and Unusable."""
        if not _NAME.fullmatch(name):
            raise Missing(f"spoe file {name} does not exist")
        with suppress(NotFound):
            await self.file(name).remove(author=author)
        self._open.pop(name, None)

    def _path(self, name: str) -> Path | None:
        """Returns the path of a file in the directory itself; None for a link that leads out of it."""
        home = self._store.directory
        path = home / name
        if not _NAME.fullmatch(name) or not os.path.isfile(path):
            return None
        return path if Path(os.path.realpath(path)).is_relative_to(os.path.realpath(home)) else None
