"""Commit a change to the file and the process. Every change goes through `commit`.

A commit takes these steps, in this order:

1. `prepare` (native/haproxy_native/commit/preparation.py), without a lock: compare the version, apply the operations, authorize the author,
   write drafts beside the files, and have `haproxy -c` check them.
2. `publish`, under the locks: make sure that the current document is still the one that the change was prepared for, and begin the entry in
   the history, on disk.
3. Keep a backup, rename the drafts onto the files, and make the new document the current one.
4. Apply the change to the process by runtime commands, or schedule a reload.
5. End the entry, release the locks, send the event, and await the reload if the client has asked for that.

A change that needs no check (native/haproxy_native/planning/needs_check.py) swaps 3 and 4: the running HAProxy accepts it by accepting its
commands, and only then is the file replaced. If HAProxy refuses one, the commands are reverted and the commit starts again with a check.

If another change has replaced the document meanwhile, the attempt raises Overtaken with nothing changed, and the commit starts again. If
the client has stated a version, the new attempt raises Conflict.

If this server is killed, the next start cleans up, depending on the step. It removes drafts (1). It removes or completes an entry that has
begun, depending on what the files contain (2 to 4). It schedules a reload for a text whose fingerprint is recorded as needing one (3, 4).
Stored files have their own ledger (native/haproxy_native/commit/publication.py).

A commit runs to completion even if the request that waits for it is cancelled.
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
from haproxy_native.commit.change import Change, ChangeContent, MemberChange, Outcome, Published, Reload, Same, Validation
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken, stamped_fingerprint
from haproxy_native.commit.events import Committed, Forced
from haproxy_native.commit.permission import permit
from haproxy_native.commit.preparation import NewText, Prepared, prepare
from haproxy_native.commit.publication import FileSet, Publication, reasons_of
from haproxy_native.editing import header
from haproxy_native.editing.file_references import references
from haproxy_native.errors import READ_ONLY, EditedMeanwhile, Forbidden, Stale
from haproxy_native.planning.outcome import Plan
from haproxy_native.planning.touches import Touch
from haproxy_native.process_state import ReloadRequired
from haproxy_native.reload.records import IN_PROGRESS
from haproxy_native.request_context import Author
from haproxy_native.text import parts

log = logging.getLogger(__name__)
Result = TypeVar("Result")
# After this number of overtaken attempts, changes of stored files wait until the change is committed.
ATTEMPTS = 3


async def commit(context: CommitContext, change: Change) -> Outcome:
    """Commit a change. Return when the files contain it, and it is live or a reload is scheduled for it. A forced reload is awaited.

    Raises Conflict, Refused, CheckImpossible, RefusedAtRuntime, WriteFailed, Unrecorded and what the operations raise; then nothing has
    changed. Raises ReloadFailed or RuntimeFailure after the files were replaced.
    """
    return await run_to_the_end(context, _commit_and_report(context, change))


async def change_process(
    context: CommitContext,
    object_: str,
    apply: Callable[[], Awaitable[Sequence[MemberChange] | None]],
    touched: Sequence[Touch] = (),
    *,
    author: Author,
) -> Outcome:
    """Commit a change of the running process alone. Raises Forbidden and what `apply` raises.

    `apply` makes the change and returns the changed members that the history shows. `touched`: what the author needs permission for, by
    default to change all of `object_`.
    """
    return await commit(context, Change([SetRuntime(object_, apply, touched)], author=author))


async def run_to_the_end(context: CommitContext, work: Coroutine[Any, Any, Result]) -> Result:
    """Await work, which runs to completion even if the caller is cancelled. `Engine.close` waits for the end of the work."""
    task = asyncio.create_task(work)
    context.works.add(task)
    task.add_done_callback(context.works.discard)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)


async def _commit_and_report(context: CommitContext, change: Change) -> Outcome:
    """Commit a change and send the event of its outcome."""
    began, request = time.monotonic(), change.author.request
    if request:
        request.is_recorded = True
    try:
        outcome = await _commit(context, change)
    except Same:
        if request:
            request.is_recorded = False
        return await unchanged(context)
    except Exception as error:
        if isinstance(error, Stale) and request:
            # The client repeats its call with the current version, so this does not count as a failed commit.
            request.is_recorded = False
        else:
            context.events.publish(Committed("failed", time.monotonic() - began, change, error=error))
        raise
    context.events.publish(Committed(outcome.kind, time.monotonic() - began, change, outcome))
    return outcome


async def unchanged(context: CommitContext) -> Outcome:
    """Return the outcome of a change that has no effect: it is live, or has the id of the reload that earlier changes wait for."""
    async with context.publishing():
        pending = None if context.running.is_current else context.pending
        return Outcome(context.current.version, pending, live=pending is None)


async def _commit(context: CommitContext, change: Change) -> Outcome:
    recorder = context.recorder
    try:
        admit(context, change)
        match change.sole_operation:
            case SetRuntime() as operation:
                change.author.permit(*operation.touches)
                async with context.process_lock:
                    version = context.current.version
                    outcome = Outcome(version, live=True, lasting=False, members=await operation.apply() or ())
                outcome = replace(outcome, entry=await recorder.add(change, outcome))
            case ChangeContent() as operation:
                change.author.permit(*operation.touches)
                async with operation.lock:
                    content = operation.content()
                    outcome = Outcome(context.current.version, live=True, contents=[content])
                    async with recorder.entry(change, outcome) as entry:
                        await operation.store(content.after)
                        outcome = recorder.end(entry, outcome)
            case None:
                outcome = await _change_files(context, change)
    finally:
        for each in change.files:
            each.discard()
    is_due = change.author.is_urgent if outcome.reload_id else bool(outcome.reasons)
    return await _force_reload(context, outcome) if is_due else outcome


def admit(context: CommitContext, change: Change) -> None:
    """Raise an error if a change may not be made: Forbidden on a read-only server, and what observers raise."""
    if context.read_only:
        raise Forbidden(READ_ONLY)
    for observer in context.observers:
        observer.admit(change)


def scheduled(context: CommitContext, outcome: Outcome, author: Author, *, force_reload: bool) -> Outcome:
    """Schedule the reload that an outcome needs, and return the outcome with the id of the reload. The caller holds `lock`.

    Return the outcome unchanged if no reload is needed, or if the caller forces the reload and awaits it.
    """
    if not outcome.reasons or force_reload or author.is_urgent:
        return outcome
    return replace(outcome, live=False, reload_id=context.reloads.schedule(outcome.reasons))


async def _change_files(context: CommitContext, change: Change) -> Outcome:
    """Change configuration and stored files. Start again each time another change was published first."""
    for _ in range(ATTEMPTS):
        with suppress(Overtaken):
            return await attempt(context, change, context.publishing_files if change.files else context.publishing)
    log.info("a change was overtaken %d times; changes of stored files wait for it now", ATTEMPTS)
    # If stored files changed faster than HAProxy checks a text, they would overtake this change for ever. So changes of stored files now
    # wait until this change is checked, which includes the wait for a check slot.
    async with context.stored_lock:
        while True:
            with suppress(Overtaken):
                return await attempt(context, change, context.publishing_settled if change.files else context.publishing)


async def attempt(context: CommitContext, change: Change, lock: Callable[[], AbstractAsyncContextManager[Any]]) -> Outcome:
    """Prepare a change, and publish it under `lock`. If it needs a reload, wait first for the end of the reload in progress.

    Removes all drafts. Raises Overtaken if another change was published first, and what `commit` raises.
    """
    try:
        return await _publish_prepared(context, change, await prepare(context, change), lock)
    except process.NotAccepted as error:
        log.info("%s; HAProxy checks the text instead", error)
        change = replace(change, validation=Validation.ALWAYS)
        return await _publish_prepared(context, change, await prepare(context, change), lock)


async def _publish_prepared(
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


async def _force_reload(context: CommitContext, outcome: Outcome) -> Outcome:
    """Reload HAProxy immediately, wait for the result, and return `outcome` with it. Raises ReloadFailed.

    If HAProxy does not run, return without waiting. The reload then takes place when HAProxy starts.
    """

    def begun(id_: str) -> None:
        if outcome.entry:
            context.events.publish(Forced(outcome.entry, id_))

    record = await context.reloads.force(outcome.reasons, outcome.version if outcome.texts else None, begun)
    if record.status == IN_PROGRESS:
        return replace(outcome, live=False, reload_id=record.id)
    return replace(outcome, live=True, forced=True)


async def publish(context: CommitContext, change: Change, prepared: Prepared) -> Outcome:
    """Replace the files, apply the change to the process, and schedule a reload if needed, unless the caller awaits the reload.

    The caller holds the locks. Raises Conflict, Overtaken, Unrecorded, NotAccepted and WriteFailed; then nothing has changed.
    """
    if change.verify:
        await change.verify()
    if prepared.plan is None:
        # With a plan, `process.sending_commands` queries the worker after it has sent the commands.
        await (context.notice() if change.files else context.observe())
    await _refuse_overtaken(context, change, prepared)
    if prepared.plan and not (
        process.may_judge(context, change, prepared.before) and context.overridden_members(change.claimed) == prepared.overridden
    ):
        raise Overtaken
    files = await prepared.files.current()
    try:
        publication = await _plan_files(context, change, prepared, files) if change.files else None
        intended = Outcome(context.current.version, contents=await asyncio.to_thread(files.contents) if files else ())
        if text := prepared.text:
            texts = prepared.texts.with_after(text.stamped.document)
            intended = replace(intended, version=text.stamped.version, former=prepared.base, texts=texts)
        async with context.recorder.entry(change, intended) as entry:
            if publication:
                outcome = await _publish_files(context, change, prepared, intended, files, publication)
            elif prepared.plan:
                outcome = await _publish_applied(context, change, prepared, intended)
            else:
                outcome = await _publish_text(context, change, prepared, intended)
            if text:
                with_files = bool(prepared.files) and not outcome.live
                published = Published(outcome.version, change.author, prepared.before, text.stamped.document, outcome.live, with_files)
                context.unloaded.append(published)
            outcome = scheduled(context, outcome, change.author, force_reload=change.reload is Reload.NOW)
            return context.recorder.end(entry, outcome)
    finally:
        if files is not prepared.files:
            files.discard()


async def _plan_files(context: CommitContext, change: Change, prepared: Prepared, files: FileSet) -> Publication:
    """Plan how to apply stored files, and the text if it changes too.

    Raises Forbidden if a reload is needed and the author may not reload.
    """
    text, may_reload = prepared.text, prepared.may_reload
    if files is not prepared.files:
        may_reload = permit(change.author, prepared.texts, await files.touches(change.author.rights))
    # With a text, the forced reload is requested for the text and not for the files.
    plans = await files.plan(Reload.AUTO if text and change.reload is Reload.NOW else change.reload)
    reasons = reasons_of(plans.values())
    if text:
        reasons = [*await process.why_not_live(context, change, text.stamped, prepared.before), *reasons]
    if reasons and not may_reload:
        raise Forbidden(f"this needs a reload, for which a rule with reload: any is needed: {reasons[0]}")
    reloads = change.reload in (Reload.AUTO, Reload.NOW)
    return Publication(context, files.stores, plans, reasons, may_reload=reloads, partial=files.partial)


async def _publish_text(context: CommitContext, change: Change, prepared: Prepared, intended: Outcome) -> Outcome:
    """Replace the file of the configuration, then send the commands of the change."""
    text = await _replace_file(context, change, prepared)
    applied = await process.apply(context, change, text.stamped, *prepared.texts)
    for reason in applied.reasons:
        log.info("version %d needs a reload: %s", intended.version, reason)
    outcome = replace(intended, members=process.corrected_members(applied))
    if applied.reasons or change.reload is Reload.NONE:
        return replace(outcome, reasons=tuple(applied.reasons))
    if (pending := context.pending) and not context.running.is_current and (change.is_whole or header.same_text(*prepared.texts)):
        return replace(outcome, reload_id=pending)
    return replace(outcome, live=True, commands=applied.texts)


async def _publish_applied(context: CommitContext, change: Change, prepared: Prepared, intended: Outcome) -> Outcome:
    """Send the commands of the change, then replace the file of the configuration. Raises NotAccepted; then nothing has changed."""
    text, plan = prepared.text, prepared.plan
    assert text
    assert plan
    syncing = asyncio.ensure_future(asyncio.to_thread(text.draft.sync))
    try:
        async with process.sending_commands(context, plan, prepared.before, text.stamped):
            await syncing
            await _replace_file(context, change, prepared)
    finally:
        # The caller discards the draft.
        await asyncio.gather(syncing, return_exceptions=True)
    return replace(intended, live=True, commands=plan.texts, members=process.corrected_members(plan))


async def _publish_files(
    context: CommitContext, change: Change, prepared: Prepared, intended: Outcome, files: FileSet, publication: Publication
) -> Outcome:
    """Replace stored files, and the configuration if it changes too, and apply them. Raises RefusedAtRuntime; then nothing has changed."""
    text, applied = prepared.text, Plan()
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
    publication.update_ledger()
    reasons, outcome = publication.to_reload, replace(intended, members=process.corrected_members(applied))
    if publication.reasons or reasons:
        return replace(outcome, reasons=reasons)
    commands = (text for plan in publication.plans.values() for step in plan.steps for text in step.texts)
    return replace(outcome, live=True, commands=(*applied.texts, *commands))


async def _replace_file(context: CommitContext, change: Change, prepared: Prepared) -> NewText:
    """Rename the draft onto the file, and return the new text. Raises Overtaken and WriteFailed; then nothing has changed."""
    current, text = context.current, prepared.text
    assert text
    stamped = text.stamped
    await _refuse_overtaken(context, change, prepared)
    if context.running.is_current:
        context.unloaded.clear()
    if context.backups.number > 0:
        await asyncio.to_thread(_keep_backup, context)
    if prepared.plan is None:
        # With a plan, HAProxy has accepted the change already: no reload is needed, and no text to restore after a failed one.
        if context.pending or change.reload is not Reload.NONE:
            context.running.step(ReloadRequired(current.fingerprint, stamped_fingerprint(stamped)))
        context.running.save_last_good()
        await context.running.flush()
    try:
        await current.install(stamped, text.draft, text.banner)
    except EditedMeanwhile:
        raise Overtaken from None
    if change.validation is not Validation.NEVER:
        context.accepted = current.fingerprint
    if change.transaction_id:
        context.transactions.succeed(change.transaction_id)
        context.transactions.outdate_older(prepared.base)
    return text


async def _refuse_overtaken(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """Raise Overtaken if the text, or a stored file that the text refers to, was replaced since the change was prepared.

    `Current.install` detects an edit by another process from the stamp of the file. A stamp that is not settled proves nothing, so in that
    case the content of the file is compared here.
    """
    if not context.current.is_settled:
        await context.current.notice_in_thread()
    if context.current.document is not prepared.before:
        raise Overtaken
    if change.validation is not Validation.NEVER:
        directory = context.base(prepared.new)
        changed = [path for path, number in context.published.items() if number > prepared.publications]
        if any(references(prepared.new, str(path), directory) for path in changed):
            raise Overtaken


def _keep_backup(context: CommitContext) -> None:
    """Store a backup of the current version. A failure is only logged. Blocks."""
    current = context.current
    try:
        former = current.stamp(current.document, current.version, banner=current.banner).data
        for name, data in parts.split(former).items():
            context.backups.for_file(name).keep(current.version, data)
    except OSError as error:
        log.warning("no backup of version %d: %s: %s", current.version, error.filename, error.strerror)
