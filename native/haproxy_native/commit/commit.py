"""The one way a change reaches file and process, in one order: compare, write a draft, check, back up, replace, publish, apply.

The lock is held from the last comparison on, never while HAProxy checks a text, so that other changes are committed meanwhile. A change
that was overtaken is retried, or raises Conflict where it states a version. A commit runs to completion even if its request is cancelled.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Awaitable, Callable, Coroutine
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from haproxy_native.beside import beside
from haproxy_native.commit import process
from haproxy_native.commit.change import Change, ObjectChange, Outcome
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.events import Committed
from haproxy_native.commit.file_change import FileChange, change_locked
from haproxy_native.commit.state_file import stamped_fingerprint
from haproxy_native.disk.files import Drafts
from haproxy_native.editing import header
from haproxy_native.editing.file_references import references
from haproxy_native.editing.header import Stamped
from haproxy_native.editing.references import refuse_rebound
from haproxy_native.errors import Refused
from haproxy_native.planning.outcome import Reason
from haproxy_native.reload.records import IN_PROGRESS
from haproxy_native.text import parts
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
PENDING = Reason("", 0, "", "the configuration that refers to the file waits for its reload")
Result = TypeVar("Result")
# After so many attempts that were overtaken, changes of stored files wait for this one.
ATTEMPTS = 3


async def commit(context: CommitContext, change: Change | FileChange | ObjectChange) -> Outcome:
    """Commits a change, and returns once the file holds it and the process does it, or a reload is scheduled; a forced reload is awaited.

    Raises Conflict, Refused, CheckImpossible, NotTaken, WriteFailed and what the edit or the check raises, with nothing changed; after the
    file was replaced ReloadFailed or RuntimeFailure.
    """
    return await to_the_end(context, _recorded(context, change))


async def change_process(context: CommitContext, object_: str, apply: Callable[[], Awaitable[None]]) -> None:
    """Commits a change of the running process alone. Raises what `apply` raises."""

    async def attempt() -> Outcome:
        async with context.process_lock:
            await apply()
            return Outcome(context.current.version, live=True, lasting=False)

    await commit(context, ObjectChange(object_, attempt))


async def to_the_end(context: CommitContext, work: Coroutine[Any, Any, Result]) -> Result:
    """Runs to completion even if the awaiting request is cancelled."""
    task = asyncio.create_task(work)
    context.works.add(task)
    task.add_done_callback(context.works.discard)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)


async def _recorded(context: CommitContext, change: Change | FileChange | ObjectChange) -> Outcome:
    """Sends the event of a commit, when the journal has it."""
    began = time.monotonic()

    def committed(outcome: str, result: Outcome | None = None, error: Exception | None = None) -> Committed:
        return Committed(outcome, time.monotonic() - began, change, result, error)

    try:
        outcome = await _commit(context, change)
    except Exception as error:
        await _tell(context, committed("failed", error=error))
        raise
    await _tell(context, committed(outcome.kind, outcome))
    return outcome


async def _tell(context: CommitContext, committed: Committed) -> None:
    try:
        if context.journal:
            await context.journal(committed)
    finally:
        context.events.tell(committed)


async def _commit(context: CommitContext, change: Change | FileChange | ObjectChange) -> Outcome:
    match change:
        case Change():
            outcome = await _of_configuration(context, change)
        case FileChange():
            outcome = await _of_file(context, change)
        case ObjectChange():
            outcome = await _of_object(change)
    return await _forced(context, outcome) if outcome.reasons and not outcome.reload_id else outcome


def scheduled(context: CommitContext, outcome: Outcome, *, force_reload: bool) -> Outcome:
    """The outcome with the id of the reload that it needs; a forced reload has no id yet. The caller holds the lock."""
    if not outcome.reasons or force_reload:
        return outcome
    context.state_file.set()
    return replace(outcome, live=False, reload_id=context.reloads.schedule(outcome.reasons))


async def _of_configuration(context: CommitContext, change: Change) -> Outcome:
    for _ in range(ATTEMPTS):
        with suppress(Overtaken):
            return await attempt(context, change, context.publishing)
    # Stored files that change faster than HAProxy checks a text would overtake this change for ever.
    async with context.stored_lock:
        while True:
            with suppress(Overtaken):
                return await attempt(context, change, context.publishing)


async def attempt(context: CommitContext, change: Change, lock: Callable[[], AbstractAsyncContextManager[Any]]) -> Outcome:
    """Prepares a change without the lock and publishes it under it; one that needs a reload waits for the end of a reload at work.

    Leaves no draft; raises Overtaken and what `commit` raises.
    """
    prepared = await prepare(context, change)
    try:
        while True:
            async with lock():
                before, new = prepared.before, prepared.stamped.document
                if (load := context.load) is None or await process.is_live(context, load, change, before, new):
                    outcome = scheduled(context, await publish(context, change, prepared), force_reload=change.force_reload)
                    return replace(outcome, former=prepared.base, texts=(before, new))
            await context.current.unless_overtaken(load.over.wait())
    finally:
        prepared.draft.discard()


async def _of_file(context: CommitContext, change: FileChange) -> Outcome:
    async with context.stored_lock, context.settled(), context.process_lock:
        return scheduled(context, await _file_locked(context, change), force_reload=change.force_reload)


async def _of_object(change: ObjectChange) -> Outcome:
    while True:
        with suppress(Overtaken):
            return await change.attempt()


async def _forced(context: CommitContext, outcome: Outcome) -> Outcome:
    """Reloads and returns the outcome; while HAProxy does not run, the reload waits for its start. Raises ReloadFailed."""
    record = await context.reloads.force(outcome.reasons)
    if record.status == IN_PROGRESS:
        return replace(outcome, live=False, reload_id=record.id)
    return replace(outcome, live=True, forced=True)


@dataclass(frozen=True)
class Prepared:
    """A change that HAProxy accepts, as a draft beside the file. `base` is the version that it starts from, `publications` the number of
    changes of stored files before its check."""

    before: Document
    new: Document
    base: int
    stamped: Stamped
    banner: bool
    draft: Drafts
    name: str
    publications: int


async def prepare(context: CommitContext, change: Change) -> Prepared:
    """Compares versions, edits, writes a draft and checks it, without the lock. Leaves no draft when it raises what `attempt` raises."""
    current = context.current
    await current.notice_aside()
    change.compare(current.version)
    before, base, publications = current.document, current.version, context.publications
    new = await current.unless_overtaken(beside(_edited, change, before))
    version = header.version_of(new) if change.keeps_version else base + 1
    banner = current.banner if change.banner is None else change.banner
    name = change.transaction_id or str(uuid.uuid4())
    stamped, draft = await asyncio.to_thread(current.prepare, new, version, banner, name)
    prepared = Prepared(before, new, base, stamped, banner, draft, name, publications)
    try:
        if change.checked:
            await current.unless_overtaken(_check(context, change, prepared))
    except BaseException:
        draft.discard()
        raise
    return prepared


async def publish(context: CommitContext, change: Change, prepared: Prepared) -> Outcome:
    """Replaces the file and applies the change to the process without reloading; `reasons` say whether a reload is needed.

    The caller holds the lock. Raises Conflict, Overtaken and WriteFailed, with nothing changed.
    """
    stamped, before, new = prepared.stamped, prepared.before, prepared.new
    if change.gated:
        await process.refuse_reload(context, stamped.document)
    await _replace_file(context, change, prepared)
    reasons = await process.apply(context, change, stamped, before, new)
    for reason in reasons:
        log.info("version %d needs a reload: %s", stamped.version, reason)
    if reasons or change.skip_reload:
        return Outcome(stamped.version, reasons=tuple(reasons))
    loaded = context.running.document is context.current.document and not context.running.doubt
    if (waited := context.pending) and not loaded and (change.whole or header.same_text(before, new)):
        return Outcome(stamped.version, waited)
    return Outcome(stamped.version, live=True)


def _edited(change: Change, before: Document) -> Document:
    new = change.edit(before)
    if change.checked:
        refuse_rebound(before, new)
    return new


async def _file_locked(context: CommitContext, change: FileChange) -> Outcome:
    """The configuration keeps its version. A file that a configuration refers to which waits for its reload waits with it."""
    applied = await change_locked(context, change)
    reasons = applied.reasons or ([PENDING] if applied.awaited and context.pending and change.may_reload else ())
    return Outcome(context.current.version, reasons=tuple(reasons), live=not reasons)


async def _replace_file(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """Makes the draft the file. Raises Conflict, Overtaken and WriteFailed, with nothing changed."""
    current, stamped = context.current, prepared.stamped
    await context.observe()
    await current.notice_aside()
    change.compare(current.version)
    if current.document is not prepared.before or _is_outdated(context, change, prepared):
        raise Overtaken
    await asyncio.to_thread(_keep_former, context)
    if context.pending or not change.skip_reload:
        context.state_file.owe(current.fingerprint, stamped_fingerprint(stamped))
    await current.install(stamped, prepared.draft, prepared.banner)
    if change.checked:
        context.accepted = current.fingerprint
    if change.transaction_id:
        context.transactions.succeed(change.transaction_id)
        context.transactions.outdate_older(prepared.base)


def _is_outdated(context: CommitContext, change: Change, prepared: Prepared) -> bool:
    """True if a file that the document refers to has changed since the check began."""
    directory = str(context.current.path.parent)
    changed = [path for path, number in context.published.items() if number > prepared.publications]
    return change.checked and any(references(prepared.new, str(path), directory) for path in changed)


async def _check(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """Raises Refused after the text was kept as a failed transaction."""
    try:
        await context.ask_haproxy(prepared.draft.checked(prepared.stamped.document, change.sent), prepared.name)
    except Refused:
        if change.kept:
            failed = await beside(context.current.stamp, prepared.stamped.document, prepared.base, banner=prepared.banner)
            context.transactions.fail(prepared.name, failed.data)
        raise


def _keep_former(context: CommitContext) -> None:
    """Writes the backup and the copy of the running text; a failure of either is logged, and the commit goes on."""
    current = context.current
    if context.backups.number > 0:
        try:
            former = current.stamp(current.document, current.version, banner=current.banner).data
            for name, data in parts.split(former).items():
                context.backups.of(name).keep(current.version, data)
        except OSError as error:
            log.warning("no backup of version %d: %s: %s", current.version, error.filename, error.strerror)
    context.running.save_copy()
