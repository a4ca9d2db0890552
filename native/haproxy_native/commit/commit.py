"""The one way a change reaches file and process, in one order: compare, write a draft, check, back up, replace, publish, apply.

A change that needs no check (native/haproxy_native/planning/needs_check.py) is applied first: by taking its commands the running HAProxy
accepts it, and only then is the file replaced.

The lock is held from the last comparison on, never while HAProxy checks a text, so that other changes are committed meanwhile. A change
that was overtaken is retried, or raises Conflict where it states a version. A commit runs to completion even if its request is cancelled.
"""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager, suppress
from dataclasses import replace
from typing import Any, TypeVar

from haproxy_native.changes.operations import SetRuntime
from haproxy_native.commit import process
from haproxy_native.commit.change import Change, ChangeBeside, Member, Outcome, Published, Reload, Same, Validation
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken, stamped_fingerprint
from haproxy_native.commit.events import Committed, Forced
from haproxy_native.commit.file_set import FileSet
from haproxy_native.commit.permission import permit
from haproxy_native.commit.preparation import NewText, Prepared, prepare
from haproxy_native.commit.publication import Publication, reasons_of
from haproxy_native.editing import header
from haproxy_native.editing.file_references import references
from haproxy_native.errors import READ_ONLY, Forbidden, Stale, Touched
from haproxy_native.planning.touches import Touch
from haproxy_native.process_state import ReloadRequired
from haproxy_native.reload.records import IN_PROGRESS
from haproxy_native.request_context import Author
from haproxy_native.text import parts

log = logging.getLogger(__name__)
Result = TypeVar("Result")
# After so many attempts that were overtaken, changes of stored files wait for this one.
ATTEMPTS = 3


async def commit(context: CommitContext, change: Change) -> Outcome:
    """Commits a change, and returns once the file holds it and the process does it, or a reload is scheduled; a forced reload is awaited.

    Raises Conflict, Refused, CheckImpossible, NotTaken, WriteFailed and what the edit or the check raises, with nothing changed; after the
    file was replaced ReloadFailed or RuntimeFailure.
    """
    return await to_the_end(context, _recorded(context, change))


async def change_process(
    context: CommitContext,
    object_: str,
    apply: Callable[[], Awaitable[Sequence[Member] | None]],
    touched: Sequence[Touch] = (),
    *,
    author: Author,
) -> Outcome:
    """Commits a change of the running process alone; `apply` returns the members that it changed, as far as the history shows them.

    `touched`: what it may change; all of `object_` without it. Raises Forbidden and what `apply` raises.
    """
    return await commit(context, Change([SetRuntime(object_, apply, touched)], author=author))


async def to_the_end(context: CommitContext, work: Coroutine[Any, Any, Result]) -> Result:
    """Runs to completion even if the awaiting request is cancelled."""
    task = asyncio.create_task(work)
    context.works.add(task)
    task.add_done_callback(context.works.discard)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)


async def _recorded(context: CommitContext, change: Change) -> Outcome:
    """Sends the event of a commit."""
    began = time.monotonic()

    if change.author.request:
        change.author.request.is_recorded = True

    def committed(outcome: str, result: Outcome | None = None, error: Exception | None = None) -> Committed:
        return Committed(outcome, time.monotonic() - began, change, result, error)

    try:
        outcome = await _commit(context, change)
    except Same:
        if change.author.request:
            change.author.request.is_recorded = False
        return await _uncommitted(context)
    except Exception as error:
        if isinstance(error, Stale) and change.author.request:
            # Whoever comes too late repeats the call, which is no failure of a commit.
            change.author.request.is_recorded = False
        else:
            context.events.tell(committed("failed", error=error))
        raise
    context.events.tell(committed(outcome.kind, outcome))
    return outcome


async def _uncommitted(context: CommitContext) -> Outcome:
    """Returns the outcome of a change without effect: live as it is, or waiting for the reload that others scheduled."""
    async with context.publishing():
        waited = None if context.running.is_current else context.pending
        return Outcome(context.current.version, waited, live=waited is None)


async def _commit(context: CommitContext, change: Change) -> Outcome:
    try:
        admit(context, change)
        outcome = await (_of_configuration(context, change) if change.beside is None else _beside(context, change, change.beside))
    finally:
        for operation in change.files:
            operation.discard()
    is_due = change.author.is_urgent if outcome.reload_id else bool(outcome.reasons)
    return await _forced(context, outcome) if is_due else outcome


def admit(context: CommitContext, change: Change) -> None:
    """Raises for a change that may not be made now: Forbidden on a server that is read-only, and what observers do."""
    if context.read_only:
        raise Forbidden(READ_ONLY)
    context.observers.admit(change)


def scheduled(context: CommitContext, outcome: Outcome, by: Author, *, force_reload: bool) -> Outcome:
    """The outcome with the id of the reload that it needs; one that is awaited has no id yet. The caller holds the lock."""
    if not outcome.reasons or force_reload or by.is_urgent:
        return outcome
    return replace(outcome, live=False, reload_id=context.reloads.schedule(outcome.reasons))


async def _of_configuration(context: CommitContext, change: Change) -> Outcome:
    for _ in range(ATTEMPTS):
        with suppress(Overtaken):
            return await attempt(context, change, context.publishing_files if change.files else context.publishing)
    log.info("a change was overtaken %d times; changes of stored files wait for it now", ATTEMPTS)
    # Stored files that change faster than HAProxy checks a text would overtake this change for ever. Changes of files wait for this check,
    # and for the turn of its caller.
    async with context.stored_lock:
        while True:
            with suppress(Overtaken):
                return await attempt(context, change, context.publishing_settled if change.files else context.publishing)


async def attempt(context: CommitContext, change: Change, lock: Callable[[], AbstractAsyncContextManager[Any]]) -> Outcome:
    """Prepares a change without the lock and publishes it under it; one that needs a reload waits for the end of a reload at work.

    Leaves no draft; raises Overtaken and what `commit` raises.
    """
    try:
        return await _attempt(context, change, await prepare(context, change), lock)
    except process.Untaken as untaken:
        log.info("%s; HAProxy is asked about the text", untaken)
        change = replace(change, validation=Validation.ALWAYS)
        return await _attempt(context, change, await prepare(context, change), lock)


async def _attempt(
    context: CommitContext, change: Change, prepared: Prepared, lock: Callable[[], AbstractAsyncContextManager[Any]]
) -> Outcome:
    try:
        while True:
            async with lock():
                before, text = prepared.before, prepared.text
                new = text.stamped.document if text else prepared.new
                admit(context, change)
                over = context.load_over
                if (load := context.load) is None or await process.is_live(context, load, change, before, new):
                    return await publish(context, change, prepared)
            await context.current.unless_overtaken(over.wait())
    finally:
        prepared.discard()


async def _beside(context: CommitContext, change: Change, operation: SetRuntime | ChangeBeside) -> Outcome:
    change.author.permit(*operation.touches)
    if isinstance(operation, SetRuntime):
        async with context.process_lock:
            outcome = Outcome(context.current.version, live=True, lasting=False, members=await operation.apply() or ())
        return replace(outcome, entry=await context.recorder.add(change, outcome))
    async with operation.lock:
        content = operation.content()
        outcome = Outcome(context.current.version, live=True, contents=[content])
        recorder = context.recorder
        async with recorder.entry(change, outcome) as entry:
            await operation.store(content.after)
            return recorder.ended(entry, outcome)


async def _forced(context: CommitContext, outcome: Outcome) -> Outcome:
    """Reloads and returns the outcome; while HAProxy does not run, the reload waits for its start. Raises ReloadFailed."""

    def begun(id_: str) -> None:
        if outcome.entry:
            context.events.tell(Forced(outcome.entry, id_))

    record = await context.reloads.force(outcome.reasons, outcome.version if outcome.texts else None, begun)
    if record.status == IN_PROGRESS:
        return replace(outcome, live=False, reload_id=record.id)
    return replace(outcome, live=True, forced=True)


async def publish(context: CommitContext, change: Change, prepared: Prepared) -> Outcome:
    """Replace the files and apply the change to the process without reloading; a reload that is needed is scheduled, unless it is awaited.

    The caller holds the locks. Raises Conflict, Overtaken, Unrecorded, Untaken and WriteFailed, with nothing changed.
    """
    if change.verify:
        await change.verify()
    if prepared.plan is None:
        # What HAProxy has taken already was observed with its commands.
        await (context.notice() if change.files else context.observe())
    await _refuse_overtaken(context, change, prepared)
    if prepared.plan and not (process.may_judge(context, change, prepared.before) and context.kept_members(change) == prepared.kept):
        raise Overtaken
    files = await prepared.files.current()
    try:
        return await _publish(context, change, prepared, files)
    finally:
        if files is not prepared.files:
            files.discard()


async def _publish(context: CommitContext, change: Change, prepared: Prepared, files: FileSet) -> Outcome:
    publication = await _planned(context, change, prepared, files) if change.files else None
    intended = Outcome(context.current.version, contents=await asyncio.to_thread(files.contents) if files else ())
    if text := prepared.text:
        texts = prepared.texts.ending_in(text.stamped.document)
        intended = replace(intended, version=text.stamped.version, former=prepared.base, texts=texts)
    recorder = context.recorder
    async with recorder.entry(change, intended) as entry:
        if publication:
            outcome = await _publish_files(context, change, prepared, intended, files, publication)
        else:
            outcome = await (_publish_applied if prepared.plan else _publish_text)(context, change, prepared, intended)
        if text:
            with_files = bool(prepared.files) and not outcome.live
            published = Published(outcome.version, change.author, prepared.before, text.stamped.document, outcome.live, with_files)
            context.unloaded.append(published)
        return recorder.ended(entry, scheduled(context, outcome, change.author, force_reload=change.reload is Reload.NOW))


async def _planned(context: CommitContext, change: Change, prepared: Prepared, files: FileSet) -> Publication:
    """Return how files are applied, and with a text why it cannot be live. Raises Forbidden."""
    text, may_reload = prepared.text, prepared.may_reload
    if files is not prepared.files:
        may_reload = permit(change.author, prepared.texts, await files.touches(change.author.rights))
    # With a text a reload is asked for by that.
    plans = await files.planned(Reload.AUTO if text and change.reload is Reload.NOW else change.reload)
    reasons = reasons_of(plans.values())
    if text:
        reasons = [*await process.why_not_live(context, change, text.stamped, prepared.before), *reasons]
    if reasons and not may_reload:
        raise Forbidden(f"this needs a reload, for which a rule with reload: any is needed: {reasons[0]}")
    reloads = change.reload in (Reload.AUTO, Reload.NOW)
    return Publication(context, files.stores, plans, reasons, may_reload=reloads, partial=files.partial)


async def _publish_text(context: CommitContext, change: Change, prepared: Prepared, intended: Outcome) -> Outcome:
    """Replace the configuration, then send the commands of its change."""
    text = await _replace_file(context, change, prepared)
    applied = await process.apply(context, change, text.stamped, *prepared.texts)
    for reason in applied.reasons:
        log.info("version %d needs a reload: %s", intended.version, reason)
    outcome = replace(intended, members=applied.members)
    if applied.reasons or change.reload is Reload.NONE:
        return replace(outcome, reasons=tuple(applied.reasons))
    if (waited := context.pending) and not context.running.is_current and (change.is_whole or header.same_text(*prepared.texts)):
        return replace(outcome, reload_id=waited)
    return replace(outcome, live=True, commands=applied.commands)


async def _publish_applied(context: CommitContext, change: Change, prepared: Prepared, intended: Outcome) -> Outcome:
    """Send the commands of the change, then replace the configuration. Raises Untaken, with nothing changed."""
    text, plan = prepared.text, prepared.plan
    assert text
    assert plan
    syncing = asyncio.ensure_future(asyncio.to_thread(text.draft.sync))
    try:
        async with process.applied(context, plan, prepared.before, text.stamped):
            await syncing
            await _replace_file(context, change, prepared)
    finally:
        # The caller discards the draft.
        await asyncio.gather(syncing, return_exceptions=True)
    return replace(intended, live=True, commands=plan.texts, members=process.corrected(plan))


async def _publish_files(
    context: CommitContext, change: Change, prepared: Prepared, intended: Outcome, files: FileSet, publication: Publication
) -> Outcome:
    """Replace stored files, and the configuration where that changes too, and apply them. Raises NotTaken, with nothing changed."""
    text, applied = prepared.text, process.Applied()
    if files:
        await publication.begin(files.drafts, context.current.fingerprint if text else "")
    if text:
        try:
            await context.observe()
            await _replace_file(context, change, prepared)
        except Exception:
            await publication.undo()
            raise
        if not publication.reasons:
            applied = await process.apply(context, change, text.stamped, *prepared.texts)
            publication.reasons += applied.reasons
        await publication.finish()
    publication.settle()
    reasons = [*publication.to_reload]
    if publication.reasons or reasons:
        return replace(intended, reasons=tuple(reasons), members=applied.members)
    steps = (said for plan in publication.plans.values() for step in plan.steps for said in step.texts)
    return replace(intended, live=True, commands=(*applied.commands, *steps), members=applied.members)


async def _replace_file(context: CommitContext, change: Change, prepared: Prepared) -> NewText:
    """Make the draft the file, and return it. Raises Overtaken and WriteFailed, with nothing changed."""
    current, text = context.current, prepared.text
    assert text
    stamped = text.stamped
    await _refuse_overtaken(context, change, prepared)
    if context.running.is_current:
        context.unloaded.clear()
    if context.backups.number > 0:
        await asyncio.to_thread(_keep_backup, context)
    if prepared.plan is None:
        # What HAProxy has taken already needs no way back, and no reload.
        if context.pending or change.reload is not Reload.NONE:
            context.running.step(ReloadRequired(current.fingerprint, stamped_fingerprint(stamped)))
        context.running.save_last_good()
        await context.running.flush()
    try:
        await current.install(stamped, text.draft, text.banner)
    except Touched:
        raise Overtaken from None
    if change.validation is not Validation.NEVER:
        context.accepted = current.fingerprint
    if change.transaction_id:
        context.transactions.succeed(change.transaction_id)
        context.transactions.outdate_older(prepared.base)
    return text


async def _refuse_overtaken(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """Raises Overtaken where another text, or a stored file that this one reads, has become current since the change was prepared.

    An edit by another process is found when the file is replaced, by its stamp, unless that may be the same after another write.
    """
    if not context.current.settled:
        await context.current.notice_aside()
    if context.current.document is not prepared.before or _is_outdated(context, change, prepared):
        raise Overtaken


def _is_outdated(context: CommitContext, change: Change, prepared: Prepared) -> bool:
    """True if a file that the document refers to has changed since the check began."""
    directory = str(context.current.path.parent)
    changed = [path for path, number in context.published.items() if number > prepared.publications]
    return change.validation is not Validation.NEVER and any(references(prepared.new, str(path), directory) for path in changed)


def _keep_backup(context: CommitContext) -> None:
    """A failure is logged, and the commit goes on."""
    current = context.current
    try:
        former = current.stamp(current.document, current.version, banner=current.banner).data
        for name, data in parts.split(former).items():
            context.backups.of(name).keep(current.version, data)
    except OSError as error:
        log.warning("no backup of version %d: %s: %s", current.version, error.filename, error.strerror)
