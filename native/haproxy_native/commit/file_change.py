"""A change of a stored file as part of a commit: entered into the ledger, written, then applied to the worker.

The file's store plans how it is applied. A change that HAProxy refuses leaves file and process as they were.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from haproxy_native.commit.change import Content
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.ledger import SKIPPED, WAITING
from haproxy_native.disk import ownership
from haproxy_native.disk.atomic import sync_directory
from haproxy_native.disk.file import Draft
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import Forbidden, NativeError, NotLive, NotTaken, RuntimeFailure, RuntimeRefused, WriteFailed
from haproxy_native.planning.outcome import FilePlan, Reason
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author, Rights, author
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.commands import Step

log = logging.getLogger(__name__)
ASKED = Reason("", 0, "", "a reload was asked for")
# Bytes of a file whose contents are remembered.
LARGEST = 1 << 26


class StoredFiles(Protocol):
    """What the commit needs of a store (native/haproxy_native/storage/store.py)."""

    @property
    def name(self) -> str: ...

    @property
    def kind(self) -> str:
        """The kind of its files as objects, as in `map/hosts.map`."""

    async def plan(self, context: CommitContext, path: Path, content: Path | None) -> FilePlan:
        """How a file is applied to the worker that will hold what `content` holds now, or be deleted where it is None."""

    def touches(self, path: Path, before: bytes, after: bytes) -> Sequence[Touch]:
        """What a change does to what stands in a file; nothing where it is more than that, or where nothing in it is an object. Blocks."""


@dataclass(frozen=True)
class FileChange:
    """`draft` becomes the file; without one the file is deleted.

    `check` is called under the lock before anything is changed, and raises to refuse the change. `compose` returns the change to make,
    where it depends on the state under the lock. `steps` replace those of the store's plan; `partial` ones apply this change only, not all
    that the file holds. Without `may_reload` no reload is scheduled. Without `live` only a reload applies it. `along` are drafts of files
    that are read with it, such as a key in a file of its own: they are installed before it, and undone with it. `touched`: what it changes
    in the file, where it is not the whole.
    """

    store: StoredFiles
    path: Path
    draft: Draft | None = None
    check: Callable[[], None] = lambda: None
    steps: Sequence[Step] | None = None
    force_reload: bool = False
    may_reload: bool = True
    live: bool = True
    partial: bool = False
    compose: "Callable[[], Awaitable[FileChange]] | None" = None
    along: Mapping[Path, Draft] = field(default_factory=dict)
    touched: Sequence[Touch] = ()
    author: Author = field(default_factory=author.get)

    @property
    def paths(self) -> Sequence[Path]:
        return [*self.along, self.path]

    @property
    def drafts(self) -> Iterator[Draft]:
        yield from self.along.values()
        if self.draft:
            yield self.draft


@dataclass(frozen=True)
class FileOutcome:
    """`reasons` for a reload, empty where the worker has the file. `awaited` as in the plan, and only where the worker has not taken the
    file live."""

    reasons: Sequence[Reason] = ()
    awaited: bool = False
    contents: Sequence[Content] = ()


class Comparison(Protocol):
    """Compares a change with what has passed a gate."""

    async def compare(self, context: CommitContext, change: FileChange) -> None:
        """Raises Overtaken."""


async def change_locked(context: CommitContext, change: FileChange, passed: Comparison | None = None) -> FileOutcome:
    """Commits without reloading. The caller holds the lock; `reasons` say whether a reload is needed.

    Raises what the check raises, WriteFailed and NotTaken, with nothing changed, and Overtaken where the change is not what has `passed`.
    """
    given = change
    try:
        change = await composed(context, change)
        if passed:
            await passed.compare(context, change)
        may_reload = await permitted_to_reload(change)
        contents = await context.foreseen(await asyncio.to_thread(_contents, change), change.author) if context.observers.are_any else ()
        return replace(await _apply(context, change, may_reload=may_reload), contents=contents)
    except Overtaken:
        # The drafts that it was given are of use when it begins again.
        change = replace(change, draft=None, along={}) if change is given else change
        raise
    finally:
        discard(change)


def discard(change: FileChange) -> None:
    for draft in change.drafts:
        draft.discard()


def drafts_of(change: FileChange) -> dict[Path, Draft | None]:
    return {**change.along, change.path: change.draft}


async def composed(context: CommitContext, change: FileChange) -> FileChange:
    """The change as it is now. Raises what the check raises."""
    await notice(context)
    change.check()
    return replace(await change.compose(), touched=change.touched, author=change.author) if change.compose else change


async def permitted_to_reload(change: FileChange) -> bool:
    """Raises Forbidden for a change that its author may not make."""
    return change.author.rights is None or change.author.rights.permit(await asyncio.to_thread(_touches, change))


def _refuse_reload(plan: FilePlan, *, may_reload: bool) -> None:
    if plan.reasons and not plan.steps and not may_reload:
        raise Forbidden(f"this needs a reload, for which a rule with reload: any is needed: {plan.reasons[0]}")


def _contents(change: FileChange) -> list[Content]:
    """What the files hold, and what they will hold."""
    return [content(change.store.kind, path, draft) for path, draft in drafts_of(change).items()]


def content(kind: str, path: Path, draft: Draft | None) -> Content:
    """What a file holds, and what it will hold."""
    object_, coming = spelled(kind, path.name), draft.path if draft else None
    there = [file for file in (path, coming) if file and file.exists()]
    if any(file.stat().st_size > LARGEST for file in there):
        return Content(object_, str(path), None, None, is_kept=False)
    before, after = (file.read_bytes() if file in there else None for file in (path, coming))
    return Content(object_, str(path), before, after)


def _touches(change: FileChange) -> Sequence[Touch]:
    """What it does to the files as objects, or to what stands in them."""
    if change.touched:
        return change.touched
    if not change.along:
        return touches_of_file(change.author.rights, change.store, change.path, change.draft.path if change.draft else None)
    return [touch(change.store.kind, path, is_there=path.exists(), stays=draft is not None) for path, draft in drafts_of(change).items()]


def touches_of_file(rights: Rights | None, store: StoredFiles, path: Path, coming: Path | None) -> Sequence[Touch]:
    """What a change does to a file that is to hold what `coming` holds, or is deleted without it; as `touches_of`. Blocks."""
    if coming and path.exists() and max(file.stat().st_size for file in (path, coming)) <= LARGEST:
        return touches_of(rights, store, path, path.read_bytes(), coming.read_bytes())
    return [touch(store.kind, path, is_there=path.exists(), stays=coming is not None)]


def touch(kind: str, path: Path, *, is_there: bool, stays: bool) -> Touch:
    """What a change does to a file as an object."""
    verb = DELETE if not stays else CHANGE if is_there else CREATE
    return Touch(spelled(kind, path.name), verb, frozenset((ANY,)))


def touches_of(rights: Rights | None, store: StoredFiles, path: Path, before: bytes | None, after: bytes | None) -> Sequence[Touch]:
    """What a change does to a file as a whole; to what stands in it, for an author who has no right to the whole. Blocks."""
    whole = [touch(store.kind, path, is_there=before is not None, stays=after is not None)]
    if rights is None or before is None or after is None:
        return whole
    try:
        rights.permit(whole)
    except Forbidden:
        return store.touches(path, before, after) or whole
    return whole


async def _apply(context: CommitContext, change: FileChange, *, may_reload: bool) -> FileOutcome:
    plan = await planned(context, change)
    _refuse_reload(plan, may_reload=may_reload)
    if not plan.used and not plan.steps:
        await asyncio.to_thread(_install, change)
        _note_published(context, change)
        return FileOutcome([ASKED] if change.force_reload else [], plan.awaited)
    try:
        await asyncio.to_thread(_begin, context, change)
        await asyncio.to_thread(_install, change)
    except NativeError:
        with suppress(WriteFailed):
            await asyncio.to_thread(_undo, context, change)
        raise
    _note_published(context, change)
    return await _apply_live(context, change, plan)


def _note_published(context: CommitContext, change: FileChange) -> None:
    for path in change.paths:
        context.note_published(path)


async def notice(context: CommitContext) -> None:
    """Takes note of another text and of another worker."""
    await context.current.notice_aside()
    await context.observe()
    known = context.state_file.value
    context.ledger.loaded_by(Worker(known.pid, known.started))


async def planned(context: CommitContext, change: FileChange) -> FilePlan:
    plan = await change.store.plan(context, change.path, change.draft.path if change.draft else None)
    if change.force_reload or not change.live:
        seen = () if change.force_reload else plan.seen
        return FilePlan(seen, plan.reasons or [ASKED], plan.used or bool(plan.steps), plan.awaited)
    return plan if change.steps is None else replace(plan, steps=change.steps, reasons=())


async def _apply_live(context: CommitContext, change: FileChange, plan: FilePlan) -> FileOutcome:
    reasons, may_reload = plan.reasons, change.may_reload or change.force_reload
    if plan.steps:
        try:
            await commands.carry_out(context.runtime, plan.steps)
            reasons = ()
        except RuntimeRefused as error:
            await asyncio.to_thread(_undo, context, change)
            raise NotTaken(error.answer) from error
        except NotLive as error:
            reasons = [Reason("", 0, "", error.detail)]
        except RuntimeFailure as error:
            reasons, may_reload = [Reason("", 0, "", f"it is not known whether HAProxy took {change.path.name}: {error}")], True
    if not reasons:
        waiting = context.ledger.entries[str(change.path)].state if change.partial else ""
        _settle(context, change, waiting)
        return FileOutcome((), plan.awaited and bool(waiting))
    _settle(context, change, WAITING if may_reload or context.pending else SKIPPED)
    return FileOutcome(reasons if may_reload else (), plan.awaited)


def _settle(context: CommitContext, change: FileChange, state: str) -> None:
    if state:
        context.ledger.owe(change.paths, state)
    else:
        context.ledger.in_step(*change.paths)


def _begin(context: CommitContext, change: FileChange) -> None:
    context.ledger.begin(dict.fromkeys(change.paths, change.store.name))


def _undo(context: CommitContext, change: FileChange) -> None:
    entries = context.ledger.entries
    context.ledger.undo(*(path for path in change.paths if (owed := entries.get(str(path))) and owed.before is not None))


def _install(change: FileChange) -> None:
    for draft in change.drafts:
        draft.install()
    if not change.draft:
        delete(change.path)


def delete(path: Path) -> None:
    """Raises WriteFailed."""
    try:
        path.unlink()
    except OSError as error:
        raise WriteFailed(ownership.failed(f"cannot delete {path}", error, path.parent)) from error
    sync_directory(os, path.parent)


async def finish(context: CommitContext, store: StoredFiles, path: Path) -> None:
    """Applies what an interrupted change has left of a file to the worker, or leaves it to a reload. Raises NotTaken with it undone."""
    there = await asyncio.to_thread(path.exists)
    await _apply_live(context, FileChange(store, path), await store.plan(context, path, path if there else None))
