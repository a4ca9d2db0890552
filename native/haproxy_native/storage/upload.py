"""An upload in progress: written to a draft beside the file piece by piece, never held in memory as a whole."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from haproxy_native.commit.change import Candidate, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.file_change import FileChange, StoredFiles, notice
from haproxy_native.commit.gate import GateVerdict, verdict
from haproxy_native.commit.permission import permit_evaluation
from haproxy_native.disk.file import Draft
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.runtime.commands import Step

PIECE = 1 << 18


class Upload:
    """`append` what arrives, then `commit`; `discard` at the end, whatever happened. `size` in bytes.

    `check` is called under the lock of the commit and raises what speaks against it. `stage`, of a transaction, takes the place of the
    commit; it is given the check.
    """

    def __init__(
        self,
        store: StoredFiles,
        path: Path,
        draft: Draft,
        check: Callable[[], None],
        check_content: Callable[[Path, Path], None],
        stage: Callable[[Callable[[], None]], Awaitable[None]] | None = None,
    ) -> None:
        self.path, self.size, self.check = path, 0, check
        self._store, self._draft, self._check_content, self._stage = store, draft, check_content, stage
        self._pieces, self._committed = bytearray(), False
        # Whether a last line gets an end where it has none; `size` does not count it.
        self.ends_lines, self._last = False, b"\n"

    async def append(self, data: bytes) -> None:
        """Raises WriteFailed."""
        self.size += len(data)
        self._pieces += data
        self._last = data[-1:] or self._last
        if len(self._pieces) >= PIECE:
            await self._flush()

    async def commit(
        self,
        context: CommitContext,
        *,
        force_reload: bool = False,
        may_reload: bool = True,
        live: bool = True,
        steps: Sequence[Step] | None = None,
    ) -> Outcome:
        """Makes it the file; the parameters are those of a FileChange. Raises what `commit` raises, with the former file in place."""
        if self.ends_lines and self._last != b"\n":
            self._pieces += b"\n"
        await self._flush()
        await asyncio.to_thread(self._check_content, self.path, self._draft.path)
        if self._stage:
            await self._stage(self.check)
            self._committed = True
            return Outcome(context.current.version)
        change = FileChange(self._store, self.path, self._draft, self.check, steps, force_reload, may_reload, live)
        # From here on the draft is the commit's, which a client that goes away does not stop.
        self._committed = True
        return await commit(context, change)

    async def plan(self, context: CommitContext) -> FilePlan:
        """What a commit would make the worker do, without one. Raises Forbidden, and what the content is refused for."""
        await self._flush()
        await permit_evaluation(context, self._candidate(context))
        await asyncio.to_thread(self._check_content, self.path, self._draft.path)
        async with context.settled():
            await notice(context)
            return await self._store.plan(context, self.path, self._draft.path)

    async def verdict(self, context: CommitContext) -> GateVerdict | None:
        """Returns the gate's verdict; `plan` must be called first."""
        return await verdict(context, self._candidate(context))

    def _candidate(self, context: CommitContext) -> Candidate:
        document = context.current.document
        return Candidate(document, document, {self.path: self._draft.path})

    def discard(self) -> None:
        if not self._committed:
            self._draft.discard()

    async def _flush(self) -> None:
        pieces, self._pieces = bytes(self._pieces), bytearray()
        await asyncio.to_thread(self._draft.append, pieces)
