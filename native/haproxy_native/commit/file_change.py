"""A change of one stored file as part of a commit: composed, permitted and published under the locks, without a check by HAProxy."""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Protocol

from haproxy_native.commit.change import Content, FileStore, Outcome
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.publication import Publication, by_reload, reasons_of
from haproxy_native.disk.file import Draft
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import Forbidden
from haproxy_native.planning.outcome import FilePlan
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch
from haproxy_native.request_context import Author, Rights, author
from haproxy_native.runtime.client import Worker
from haproxy_native.runtime.commands import Step

log = logging.getLogger(__name__)
# Bytes of a file whose contents are remembered.
LARGEST = 1 << 26


@dataclass(frozen=True)
class FileChange:
    """`draft` becomes the file; without one the file is deleted.

    `check` is called under the lock before anything is changed, and raises to refuse the change. `compose` returns the change to make,
    where it depends on the state under the lock. `steps` replace those of the store's plan; `partial` ones apply this change only, not all
    that the file holds. Without `may_reload` no reload is scheduled. Without `live` only a reload applies it. `along` are drafts of files
    that are read with it, such as a key in a file of its own: they are installed before it, and undone with it. `touched`: what it changes
    in the file, where it is not the whole.
    """

    store: FileStore
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
    def drafts(self) -> Iterator[Draft]:
        yield from self.along.values()
        if self.draft:
            yield self.draft


class Comparison(Protocol):
    """Compares a change with what has passed a gate."""

    async def compare(self, context: CommitContext, change: FileChange) -> None:
        """Raises Overtaken."""


async def change_locked(context: CommitContext, change: FileChange, passed: Comparison | None = None) -> Outcome:
    """Commits without reloading; `reasons` say whether a reload is needed. The configuration keeps its version. The caller holds the locks.

    Raises what the check raises, WriteFailed and NotTaken, with nothing changed, and Overtaken where the change is not what has `passed`.
    """
    given = change
    try:
        change = await composed(context, change)
        if passed:
            await passed.compare(context, change)
        may_reload = await permitted_to_reload(change)
        contents = await context.foreseen(await asyncio.to_thread(_contents, change), change.author) if context.observers.are_any else ()
        plan = await planned(context, change)
        _refuse_reload(plan, may_reload=may_reload)
        stores = dict.fromkeys(drafts_of(change), change.store)
        # What is read along with the file is applied with it.
        plans = dict.fromkeys(change.along, FilePlan()) | {change.path: plan}
        reloads = change.may_reload or change.force_reload
        publication = Publication(context, stores, plans, reasons_of([plan]), may_reload=reloads, partial=change.partial)
        await publication.begin(drafts_of(change))
        await publication.settle()
        reasons = publication.to_reload
        is_live = not reasons and (change.live or not publication.reasons)
        return Outcome(context.current.version, reasons=reasons, live=is_live, contents=contents)
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


def touches_of_file(rights: Rights | None, store: FileStore, path: Path, coming: Path | None) -> Sequence[Touch]:
    """What a change does to a file that is to hold what `coming` holds, or is deleted without it; as `touches_of`. Blocks."""
    if coming and path.exists() and max(file.stat().st_size for file in (path, coming)) <= LARGEST:
        return touches_of(rights, store, path, path.read_bytes(), coming.read_bytes())
    return [touch(store.kind, path, is_there=path.exists(), stays=coming is not None)]


def touch(kind: str, path: Path, *, is_there: bool, stays: bool) -> Touch:
    """What a change does to a file as an object."""
    verb = DELETE if not stays else CHANGE if is_there else CREATE
    return Touch(spelled(kind, path.name), verb, frozenset((ANY,)))


def touches_of(rights: Rights | None, store: FileStore, path: Path, before: bytes | None, after: bytes | None) -> Sequence[Touch]:
    """What a change does to a file as a whole; to what stands in it, for an author who has no right to the whole. Blocks."""
    whole = [touch(store.kind, path, is_there=before is not None, stays=after is not None)]
    if rights is None or before is None or after is None:
        return whole
    try:
        rights.permit(whole)
    except Forbidden:
        return store.touches(path, before, after) or whole
    return whole


async def notice(context: CommitContext) -> None:
    """Takes note of another text and of another worker."""
    await context.current.notice_aside()
    await context.observe()
    known = context.state_file.value
    context.ledger.loaded_by(Worker(known.pid, known.started))


async def planned(context: CommitContext, change: FileChange) -> FilePlan:
    plan = await change.store.plan(context, change.path, change.draft.path if change.draft else None)
    if change.force_reload or not change.live:
        return by_reload(plan, forced=change.force_reload)
    return plan if change.steps is None else replace(plan, steps=change.steps, reasons=())
