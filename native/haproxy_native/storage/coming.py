"""Stored files that are sent together with a configuration: their changes, and HAProxy's verdict on all of it together.

Nothing is written where it is used: the content stands somewhere else meanwhile.
"""

import asyncio
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from haproxy_native.beside import beside
from haproxy_native.check.messages import Message
from haproxy_native.check.whole_set import WholeSet, check_whole_set
from haproxy_native.commit.change import Candidate, Change
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.permission import permit_evaluation
from haproxy_native.commit.preview import Preview, difference_of_texts, preview
from haproxy_native.errors import BadRequest
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.storage import key_material
from haproxy_native.storage.crt_list_store import CrtListStore
from haproxy_native.storage.store import Store
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.transactions.staged import Staged

# In bytes: of larger files no difference is worked out.
LARGEST_DIFFERENCE = 1 << 18


@dataclass(frozen=True)
class Coming:
    """A file that is, or would be, at `path` in its store; its new content stands at `content`, None for one that goes."""

    store: Store
    path: Path
    content: Path | None


@dataclass(frozen=True)
class FilePreview:
    """`diff` is None for certificates, for what looks like a key, and for large files."""

    store: str
    name: str
    diff: str | None
    plan: FilePlan


async def planned(context: CommitContext, change: Change, files: Sequence[Coming]) -> tuple[Preview, list[FilePreview]]:
    """What a change would do together with stored files. Raises BadRequest."""
    contents = {file.path: file.content for file in files}
    current = context.current.document
    await permit_evaluation(context, Candidate(current, await beside(change.apply, current), contents))
    plans = await previews(context, files)
    return await preview(context, change, partial(check, context, files), files=contents), plans


def coming(stores: Mapping[str, Store], staged: Staged) -> list[Coming]:
    """Returns the files that are staged, except those that go."""
    contents = [(path, stores[file.store], staged.content(path)) for path, file in staged.files.items() if file.store in stores]
    return [Coming(store, path, content) for path, store, content in contents if content]


async def previews(context: CommitContext, files: Sequence[Coming]) -> list[FilePreview]:
    """Raises BadRequest for content that its store does not take."""
    for change in files:
        await asyncio.to_thread(_check_content, change)
    async with context.settled():
        await context.notice()
        return [await _preview(context, file) for file in files]


def _check_content(file: Coming) -> None:
    if file.content is None:
        return
    try:
        file.store.check_content(file.path, file.content)
    except BadRequest as error:
        raise BadRequest(f"part {file.store.name}, {file.path.name}: {error.detail}") from None


async def _preview(context: CommitContext, file: Coming) -> FilePreview:
    plan = await file.store.plan(context, file.path, file.content)
    return FilePreview(file.store.name, file.path.name, await asyncio.to_thread(_difference, context, file), plan)


def _difference(context: CommitContext, file: Coming) -> str | None:
    store, path = file.store, file.path
    try:
        if store.name == "ssl_certificates" or (path.exists() and not store.may_send(context, path)):
            return None
        there = [candidate for candidate in (path, file.content) if candidate and candidate.exists()]
        if any(file.stat().st_size > LARGEST_DIFFERENCE for file in there):
            return None
        texts = (store.content(path) if path.exists() else b"", file.content.read_bytes() if file.content else b"")
    except OSError:
        return None
    if any(map(key_material.is_secret, texts)):
        return None
    old, new = (text.decode("utf-8", "replace") for text in texts)
    return difference_of_texts(old, new, path.name)


async def check(context: CommitContext, files: Sequence[Coming], document: Document) -> list[Message]:
    """HAProxy's warnings about a configuration with the files as they would be. Raises Refused and CheckImpossible."""
    given = _set(context, files, document)
    with context.validating():
        return await check_whole_set(given, context.check)


def _set(context: CommitContext, files: Sequence[Coming], document: Document) -> WholeSet:
    texts = {name or str(context.current.path): part.data for name, part in parts.parts(document).items()}
    contents: dict[str, bytes | Path] = {os.path.abspath(file.path): file.content for file in files if file.content}
    gone = [os.path.abspath(file.path) for file in files if file.content is None]
    lists = [os.path.abspath(file.path) for file in files if isinstance(file.store, CrtListStore)]
    return WholeSet(texts, contents, lists, gone, Path.cwd())
