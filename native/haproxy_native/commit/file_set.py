"""The stored files of a change, as drafts: checked with its configuration, permitted, and applied.

They are published by native/haproxy_native/commit/publication.py.
"""

import asyncio
import os
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from pathlib import Path

from haproxy_native.changes.file_operations import Contents, Drafted, FileOperation, FileStore, contents, discard
from haproxy_native.check.messages import Message
from haproxy_native.check.whole_set import WholeSet, check_whole_set
from haproxy_native.commit.change import Change, Content, Reload
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.permission import LARGEST, touches_of_file
from haproxy_native.commit.publication import by_reload
from haproxy_native.disk.file import Draft
from haproxy_native.editing.object_names import spelled
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.planning.touches import Touch
from haproxy_native.request_context import Author, Rights
from haproxy_native.runtime.commands import Step
from haproxy_native.text import parts
from haproxy_native.text.document import Document

# A kind of stores whose files name further ones by their paths.
LISTS = "crt_list"


@dataclass(frozen=True)
class FileSet:
    """What operations make of stored files; False if that is nothing.

    `made`: what each operation has drafted; empty until the locks are held, if one of them depends on what the process has.
    """

    context: CommitContext
    operations: Sequence[FileOperation] = ()
    made: Sequence[Drafted] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return any(drafted.drafts for drafted in self.made)

    @property
    def stores(self) -> dict[Path, FileStore]:
        return {path: store for drafted in self.made for path, store in drafted.stores.items()}

    @property
    def drafts(self) -> dict[Path, Draft | None]:
        """What files will hold, None for those that go."""
        return {path: draft for drafted in self.made for path, draft in drafted.drafts.items()}

    @property
    def written(self) -> dict[Path, Path | None]:
        """Returns where the files' new contents are, by path; None for a deleted file."""
        return {path: draft.path if draft else None for path, draft in self.drafts.items()}

    @property
    def partial(self) -> Collection[Path]:
        return [path for drafted in self.made for path in drafted.partial]

    def discard(self) -> None:
        for operation, drafted in zip(self.operations, self.made, strict=False):
            if not operation.keeps_drafts:
                discard(drafted.drafts)

    async def touches(self, rights: Rights | None) -> Sequence[Touch]:
        """What they do to the files as objects, or to what stands in them; nothing is asked of an author with all rights."""
        if rights is None or rights.are_all:
            return ()
        return [touch for drafted in self.made for touch in await asyncio.to_thread(_touches, rights, drafted)]

    def refuse_named(self, document: Document) -> None:
        """Raises InUse where the configuration names a file that goes."""
        for operation, drafted in zip(self.operations, self.made, strict=False):
            operation.refuse_named(drafted, document, str(self.context.current.path.parent))

    async def current(self) -> "FileSet":
        """The same under the locks, where what depends on the process is drafted.

        Raises Overtaken where that is not what was judged, or where a file is not what was read, and what refuses an operation.
        """
        if not any(operation.reads_process for operation in self.operations):
            if self.operations:
                await asyncio.to_thread(self._compare)
            return self
        now = await drafted(self.context, self.operations)
        if self.made and await asyncio.to_thread(self._contents) != await asyncio.to_thread(now._contents):
            now.discard()
            raise Overtaken
        return now

    def _compare(self) -> None:
        for operation in self.operations:
            operation.refuse()
        read = {path: data for drafted in self.made for path, data in drafted.read.items()}
        if contents(read) != read:
            raise Overtaken

    def _contents(self) -> Contents:
        return {path: draft.path.read_bytes() if draft else None for path, draft in self.drafts.items()}

    async def planned(self, reload: Reload = Reload.AUTO) -> dict[Path, FilePlan]:
        """How each file is applied. The caller holds the locks."""
        steps = {path: given for drafted in self.made for path, given in drafted.steps.items()}
        return {path: await self._planned(path, content, reload, steps.get(path)) for path, content in self.written.items()}

    async def _planned(self, path: Path, content: Path | None, reload: Reload, steps: Sequence[Step] | None) -> FilePlan:
        plan = await self.stores[path].plan(self.context, path, content)
        if reload in (Reload.NOW, Reload.NONE):
            return by_reload(plan, forced=reload is Reload.NOW)
        return plan if steps is None else replace(plan, steps=steps, reasons=())

    async def checked(self, document: Document, by: Author, name: str | None = None) -> list[Message]:
        """What HAProxy warns of, of a configuration with these files. Raises Refused, CheckImpossible and ShareExceeded."""
        document = reduce(lambda now, operation: operation.spelled_out(now), self.operations, document)
        given = await asyncio.to_thread(self._set, document)
        async with self.context.validating(by):
            return await check_whole_set(given, self.context.check, name)

    def _set(self, document: Document) -> WholeSet:
        texts = {name or str(self.context.current.path): part.data for name, part in parts.parts(document).items()}
        drafts = self.drafts
        changed: dict[str, bytes | Path] = {os.path.abspath(path): draft.path for path, draft in drafts.items() if draft}
        gone = [os.path.abspath(path) for path, draft in drafts.items() if draft is None]
        lists = [os.path.abspath(path) for path in drafts if self.stores[path].kind == LISTS]
        return WholeSet(texts, changed, lists, gone, Path.cwd())

    def contents(self) -> list[Content]:
        """What the files hold, and what they will hold. Blocks."""
        return [_content(self.stores[path].kind, path, draft) for path, draft in self.drafts.items()]


async def drafted(context: CommitContext, operations: Sequence[FileOperation]) -> FileSet:
    """What operations make of stored files; leaves no draft when it raises. Raises what speaks against them, BadRequest, WriteFailed."""
    made = list[Drafted]()
    files = FileSet(context, operations, made)
    try:
        for operation in operations:
            made.append(await operation.drafted())
    except BaseException:
        files.discard()
        raise
    return files


async def prepared(context: CommitContext, change: Change, *, is_judged: bool) -> FileSet:
    """Draft the files of a change before it takes the locks. What depends on the process is drafted only if observers are to judge it."""
    if not any(operation.reads_process for operation in change.files):
        return await drafted(context, change.files)
    if not is_judged:
        return FileSet(context, change.files)
    async with context.settled(), context.process_lock:
        await context.notice()
        return await drafted(context, change.files)


def _touches(rights: Rights, drafted: Drafted) -> Sequence[Touch]:
    if drafted.touches is not None:
        return drafted.touches
    rows = ((drafted.stores[path], path, draft.path if draft else None) for path, draft in drafted.drafts.items())
    return [touch for store, path, coming in rows for touch in touches_of_file(rights, store, path, coming)]


def _content(kind: str, path: Path, draft: Draft | None) -> Content:
    """What a file holds, and what it will hold."""
    object_, coming = spelled(kind, path.name), draft.path if draft else None
    there = [file for file in (path, coming) if file and file.exists()]
    if any(file.stat().st_size > LARGEST for file in there):
        return Content(object_, str(path), None, None, is_kept=False)
    before, after = (file.read_bytes() if file in there else None for file in (path, coming))
    return Content(object_, str(path), before, after)
