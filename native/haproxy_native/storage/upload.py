"""An upload in progress: written to a draft beside the file piece by piece, never held in memory as a whole."""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path

from haproxy_native.changes.file_operations import FileStore, PutFile
from haproxy_native.commit.change import Change, Outcome, Reload, Validation
from haproxy_native.commit.commit import admit, commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.disk import aside
from haproxy_native.disk.file import Draft
from haproxy_native.request_context import Author

PIECE = 1 << 18


class Upload:
    """`admit`, `append` what arrives, then `commit`; `discard` at the end, whatever happened. `size` in bytes.

    `draft` makes the file that it is written to, when something of it has arrived: what is refused before is never on the disk. `check` is
    called under the lock of the commit and raises what speaks against it. `stage`, of a transaction, takes the place of the commit; it is
    given the draft and the check.
    """

    def __init__(
        self,
        store: FileStore,
        path: Path,
        author: Author,
        draft: Callable[[], Draft],
        check: Callable[[], None],
        check_content: Callable[[Path, Path], None],
        stage: Callable[[Draft | None, Callable[[], None]], Awaitable[None]] | None = None,
    ) -> None:
        self.path, self.size, self.check, self._author = path, 0, check, author
        self._store, self._make, self._check_content, self._stage = store, draft, check_content, stage
        self._made: Draft | None = None
        self._pieces, self._committed = bytearray(), False
        # Whether a last line gets an end where it has none; `size` does not count it.
        self.ends_lines, self._last = False, b"\n"

    def admit(self, context: CommitContext) -> None:
        """Raises what refuses any change now, before something of the content has arrived, as Conflict while another waits."""
        if not self._stage:
            admit(context, Change([PutFile(self._store, self.path)], author=self._author))

    async def append(self, data: bytes) -> None:
        """Raises WriteFailed."""
        self.size += len(data)
        self._pieces += data
        self._last = data[-1:] or self._last
        if len(self._pieces) >= PIECE:
            await self._flush()

    async def commit(self, context: CommitContext, reload: Reload = Reload.AUTO) -> Outcome:
        """Makes it the file. Raises what `commit` raises, with the former file in place."""
        put = await self.operation()
        if self._stage:
            await self._stage(put.draft, self.check)
            self._committed = True
            return Outcome(context.current.version)
        # From here on the draft is the commit's, which a client that goes away does not stop.
        self._committed = True
        return await commit(context, Change([put], reload=reload, validation=Validation.NEVER, author=self._author))

    async def operation(self) -> PutFile:
        """What makes it the file. Raises BadRequest for content that the store does not take."""
        if self.ends_lines and self._last != b"\n":
            self._pieces += b"\n"
        draft = await self._flush()
        await asyncio.to_thread(self._check_content, self.path, draft.path)
        if aside.place.get():
            # Of those that are only looked at there may be thousands.
            draft.close()
        return PutFile(self._store, self.path, draft, self.check)

    def discard(self) -> None:
        if self._made and not self._committed:
            self._made.discard()

    async def _flush(self) -> Draft:
        pieces, self._pieces = bytes(self._pieces), bytearray()
        return await asyncio.to_thread(self._written, pieces)

    def _written(self, pieces: bytes) -> Draft:
        if self._made is None:
            self._made = self._make()
        self._made.append(pieces)
        return self._made
