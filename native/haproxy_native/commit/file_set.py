"""Stored files that change together with the configuration: edited and written as drafts, and checked with it.

They are published by native/haproxy_native/commit/publication.py.
"""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from haproxy_native.beside import beside
from haproxy_native.check.messages import Message
from haproxy_native.check.whole_set import WholeSet, check_whole_set
from haproxy_native.commit.change import Change, Content, Contents, FileStore
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.file_change import content, touches_of
from haproxy_native.disk.file import Draft
from haproxy_native.errors import BadRequest, Unreadable
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.planning.touches import Touch
from haproxy_native.text import parts
from haproxy_native.text.document import Document

# A kind of stores whose files name further ones by their paths.
LISTS = "crt_list"


@dataclass(frozen=True)
class FileSet:
    """`before`: what the files held that the edit has read; `drafts`: those that differ, None for one that goes. False without any."""

    context: CommitContext
    stores: Mapping[Path, FileStore] = field(default_factory=dict)
    before: Contents = field(default_factory=dict, repr=False)
    drafts: Mapping[Path, Draft | None] = field(default_factory=dict)
    touches: Sequence[Touch] = ()

    def __bool__(self) -> bool:
        return bool(self.drafts)

    @property
    def written(self) -> dict[Path, Path | None]:
        """Returns where the files' new contents are, by path; None for a deleted file."""
        return {path: draft.path if draft else None for path, draft in self.drafts.items()}

    def discard(self) -> None:
        for draft in self.drafts.values():
            if draft:
                draft.discard()

    def refuse_named(self, document: Document) -> None:
        """Raises InUse where the configuration names a file that goes."""
        for path, draft in self.drafts.items():
            if draft is None:
                self.stores[path].refuse_named(path, document, str(self.context.current.path.parent))

    async def compare(self) -> None:
        """Raises Overtaken where a file is not what the edit has read."""
        if await asyncio.to_thread(_contents, self.before) != self.before:
            raise Overtaken

    async def planned(self) -> dict[Path, FilePlan]:
        """How each file is applied. The caller holds the locks."""
        return {
            path: await self.stores[path].plan(self.context, path, draft.path if draft else None) for path, draft in self.drafts.items()
        }

    async def checked(self, document: Document, name: str) -> list[Message]:
        """What HAProxy warns of, of a configuration with these files. Raises Refused and CheckImpossible."""
        given = await asyncio.to_thread(self._set, document)
        with self.context.validating():
            return await check_whole_set(given, self.context.check, name)

    def _set(self, document: Document) -> WholeSet:
        texts = {name or str(self.context.current.path): part.data for name, part in parts.parts(document).items()}
        contents: dict[str, bytes | Path] = {os.path.abspath(path): draft.path for path, draft in self.drafts.items() if draft}
        gone = [os.path.abspath(path) for path, draft in self.drafts.items() if draft is None]
        lists = [os.path.abspath(path) for path in self.drafts if self.stores[path].kind == LISTS]
        return WholeSet(texts, contents, lists, gone, Path.cwd())

    def contents(self) -> list[Content]:
        return [content(self.stores[path].kind, path, draft) for path, draft in self.drafts.items()]


@asynccontextmanager
async def edited(context: CommitContext, change: Change) -> AsyncIterator[FileSet]:
    """What a change makes of stored files; no draft is left where its body raises. Raises what the edit raises, BadRequest, WriteFailed."""
    if change.files is None:
        yield FileSet(context)
        return
    edits = change.files
    before = await asyncio.to_thread(_contents, edits.stores)
    wanted = await beside(edits.edit, before)
    after = {path: data for path, data in wanted.items() if data != before[path]}
    touched = edits.touches(before, after) if edits.touches else await asyncio.to_thread(_touches, change, edits.stores, before, after)
    drafts = dict[Path, Draft | None]()
    files = FileSet(context, edits.stores, before, drafts, touched)
    try:
        # What goes is deleted last.
        for path, data in sorted(after.items(), key=lambda row: row[1] is None):
            drafts[path] = None if data is None else await asyncio.to_thread(edits.stores[path].draft, path, data)
            if edits.is_checked and (draft := drafts[path]):
                await asyncio.to_thread(_check_content, edits.stores[path], path, draft.path)
        yield files
    except BaseException:
        files.discard()
        raise


def _check_content(store: FileStore, path: Path, draft: Path) -> None:
    try:
        store.check_content(path, draft)
    except BadRequest as error:
        raise BadRequest(f"{store.kind}/{path.name}: {error.detail}") from None


def _touches(change: Change, stores: Mapping[Path, FileStore], before: Contents, after: Contents) -> list[Touch]:
    rights = change.author.rights
    return [touch for path in after for touch in touches_of(rights, stores[path], path, before[path], after[path])]


def _contents(paths: Mapping[Path, object]) -> Contents:
    """Raises Unreadable."""
    return {path: _read(path) for path in paths}


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"Cannot read {path}: {error.strerror}") from error
