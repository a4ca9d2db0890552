"""The one way a change reaches file and process, in one order: compare, write beside the file, check, back up, replace, publish, apply.

The lock is held from the last comparison on, never while HAProxy checks a text: others commit meanwhile, and a change that another
has overtaken starts again, or is a conflict where its client stated a version. A client that goes away does not stop a commit.
"""

import asyncio
import itertools
import logging
import time
import uuid
from collections.abc import Coroutine, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, replace
from typing import Any, TypeVar

from haproxy_native.beside import beside
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.file_change import FileChange, change_locked
from haproxy_native.commit.state_file import stamped_fingerprint
from haproxy_native.disk.files import Drafts
from haproxy_native.editing import header
from haproxy_native.editing.file_references import references
from haproxy_native.editing.header import Stamped
from haproxy_native.editing.references import refuse_rebound
from haproxy_native.errors import Refused, RuntimeFailure, RuntimeRefused
from haproxy_native.events import ChangedLive, Committed
from haproxy_native.planning.ahead import ahead
from haproxy_native.planning.outcome import Plan, Reason, reason_at
from haproxy_native.reload.records import IN_PROGRESS
from haproxy_native.runtime import actions, commands
from haproxy_native.runtime.verification import prove
from haproxy_native.text import parts
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
PENDING = Reason("", 0, "", "the configuration that refers to the file waits for its reload")
STOPPED = Reason("", 0, "", "HAProxy does not run")
Result = TypeVar("Result")
# How often a change is checked anew because a stored file that it refers to has changed, before those have to wait.
ATTEMPTS = 3


async def commit(context: CommitContext, change: Change | FileChange) -> Outcome:
    """Raises Conflict, Refused, CheckImpossible, NotTaken, WriteFailed, what the edit or the check raises, and after the commit
    ReloadFailed or RuntimeFailure."""
    return await counted(context, _commit(context, change))


async def counted(context: CommitContext, work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """A commit to its end, and what became of it as an event; raises what it raises."""
    return await to_the_end(context, _told(context, work))


async def to_the_end(context: CommitContext, work: Coroutine[Any, Any, Result]) -> Result:
    """Runs to completion, also when the caller is cancelled."""
    task = asyncio.create_task(work)
    context.works.add(task)
    task.add_done_callback(context.works.discard)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)


async def _told(context: CommitContext, work: Coroutine[Any, Any, Outcome]) -> Outcome:
    began, kind = time.monotonic(), "failed"
    try:
        outcome = await work
        kind = outcome.kind
        return outcome
    finally:
        context.events.tell(Committed(kind, time.monotonic() - began))


async def _commit(context: CommitContext, change: Change | FileChange) -> Outcome:
    outcome = await (_of_file(context, change) if isinstance(change, FileChange) else _of_configuration(context, change))
    return await forced(context, outcome) if outcome.reasons and not outcome.reload_id else outcome


def scheduled(context: CommitContext, outcome: Outcome, *, force_reload: bool) -> Outcome:
    """With the id of the reload that it needs; a forced one has none yet. The caller holds the lock."""
    if not outcome.reasons or force_reload:
        return outcome
    context.state_file.set()
    return replace(outcome, live=False, reload_id=context.reloads.schedule(outcome.reasons))


async def _of_configuration(context: CommitContext, change: Change) -> Outcome:
    """Compared and checked without the lock, then published under it; from the start again where something else was published meanwhile."""
    async with AsyncExitStack() as quiet:
        for attempt in itertools.count():
            if attempt == ATTEMPTS:
                # Stored files that change faster than HAProxy can check would go on for ever.
                await quiet.enter_async_context(context.stored_lock)
            with suppress(Overtaken):
                prepared = await prepare(context, change)
                try:
                    async with context.lock:
                        return scheduled(context, await publish(context, change, prepared), force_reload=change.force_reload)
                finally:
                    prepared.draft.discard()
    raise AssertionError("unreachable")


async def _of_file(context: CommitContext, change: FileChange) -> Outcome:
    async with context.stored_lock, context.lock:
        return scheduled(context, await _file_locked(context, change), force_reload=change.force_reload)


async def forced(context: CommitContext, outcome: Outcome) -> Outcome:
    """With what became of the reload; where HAProxy does not run, it is scheduled for its start. Raises ReloadFailed."""
    record = await context.reloads.force(outcome.reasons)
    if record.status == IN_PROGRESS:
        return replace(outcome, live=False, reload_id=record.id)
    return replace(outcome, live=True, forced=True)


@dataclass(frozen=True)
class Prepared:
    """A change that HAProxy accepts, beside the file. `base` is the version it starts from, `published` how often stored files had
    changed."""

    before: Document
    new: Document
    base: int
    stamped: Stamped
    banner: bool
    draft: Drafts
    name: str
    published: int


async def prepare(context: CommitContext, change: Change) -> Prepared:
    """Compares, edits, writes beside the file and checks. Nothing is locked. Raises what `commit` raises before it, and Overtaken."""
    current = context.current
    await current.notice_aside()
    change.compare(current.version)
    before, base, published = current.document, current.version, context.publications
    new = await current.unless_overtaken(beside(_edited, change, before))
    version = header.version_of(new) if change.keeps_version else base + 1
    banner = current.banner if change.banner is None else change.banner
    name = change.transaction_id or str(uuid.uuid4())
    stamped, draft = await asyncio.to_thread(current.prepare, new, version, banner, name)
    prepared = Prepared(before, new, base, stamped, banner, draft, name, published)
    try:
        if change.checked:
            await current.unless_overtaken(_check(context, change, prepared))
    except BaseException:
        draft.discard()
        raise
    return prepared


async def publish(context: CommitContext, change: Change, prepared: Prepared) -> Outcome:
    """Replaces the file and brings the process to it, but for a reload. The caller holds the lock. Raises Overtaken, with nothing
    changed."""
    stamped, before, new = prepared.stamped, prepared.before, prepared.new
    await _replace_file(context, change, prepared)
    reasons = await _carry_out(context, change, stamped, before, new)
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
    """The configuration and its version stay; what a configuration that waits for its reload refers to waits with it."""
    told = await change_locked(context, change)
    reasons = told.reasons or ([PENDING] if told.awaited and context.pending and change.may_reload else ())
    return Outcome(context.current.version, reasons=tuple(reasons), live=not reasons)


async def _replace_file(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """From the draft to the published file."""
    current, stamped = context.current, prepared.stamped
    await context.running.observe()
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
    """Whether a file that the document refers to was changed since HAProxy has checked it."""
    directory = str(context.current.path.parent)
    changed = [path for path, number in context.published.items() if number > prepared.published]
    return change.checked and any(references(prepared.new, str(path), directory) for path in changed)


async def _check(context: CommitContext, change: Change, prepared: Prepared) -> None:
    """A refused text stays as a failed transaction."""
    try:
        await context.ask_haproxy(prepared.draft.checked(prepared.stamped.document, change.sent), prepared.name)
    except Refused:
        if change.kept:
            failed = await beside(context.current.stamp, prepared.stamped.document, prepared.base, banner=prepared.banner)
            context.transactions.fail(prepared.name, failed.data)
        raise


def _keep_former(context: CommitContext) -> None:
    """The backup, and the copy of what runs; neither stands in the way of a commit."""
    current = context.current
    if context.backups.number > 0:
        try:
            former = current.stamp(current.document, current.version, banner=current.banner).data
            for name, data in parts.split(former).items():
                context.backups.of(name).keep(current.version, data)
        except OSError as error:
            log.warning("no backup of version %d: %s: %s", current.version, error.filename, error.strerror)
    context.running.save_copy()


async def _carry_out(context: CommitContext, change: Change, stamped: Stamped, before: Document, new: Document) -> list[Reason]:
    """Brings the process to the new document, or says why only a reload can."""
    unchanged = await beside(header.same_text, before, new)
    if change.skip_reload:
        await _skip(context, change, stamped, new)
        return []
    if unchanged and change.transaction_id:
        return [Reason("", 0, "", "a transaction without changes was committed")]
    if unchanged and change.force_reload and context.pending:
        return [Reason("", 0, "", "what was committed earlier waits for a reload")]
    if unchanged:
        _nothing_to_do(context, before, stamped)
        return []
    if change.whole and (drift := context.running.drift()):
        return drift
    return await _apply(context, stamped, before, may_wait=not change.force_reload)


def _nothing_to_do(context: CommitContext, before: Document, stamped: Stamped) -> None:
    if context.running.document is before and not context.running.doubt:
        context.running.is_loaded(stamped.document, stamped_fingerprint(stamped))
    elif context.pending is None:
        context.state_file.set(pending="")


async def _apply(context: CommitContext, stamped: Stamped, before: Document, *, may_wait: bool) -> list[Reason]:
    """`may_wait`: a reload that is pending stays so; else it is carried out for this change."""
    running = context.running
    if context.reloads.awaiting:
        return [STOPPED]
    if running.document is None or running.reasons():
        return running.reasons()
    plan = await beside(_planned, context, running.document, stamped.document)
    if plan.reasons:
        return await _apply_ahead(context, stamped, before, plan.reasons) if context.pending and may_wait else list(plan.reasons)
    if refused := await _carried(context, plan, stamped.document):
        return refused
    running.is_loaded(stamped.document, stamped_fingerprint(stamped))
    return []


async def _apply_ahead(context: CommitContext, stamped: Stamped, before: Document, reasons: Sequence[Reason]) -> list[Reason]:
    """The change alone, while what was committed earlier waits for its reload."""
    running = context.running
    assert running.document is not None
    wanted = await beside(ahead, running.document, before, stamped.document)
    plan = await beside(_planned, context, running.document, wanted) if wanted else None
    if wanted is None or plan is None or plan.reasons:
        return list(reasons)
    if refused := await _carried(context, plan, stamped.document):
        return refused
    running.is_ahead(wanted)
    return []


async def _carried(context: CommitContext, plan: Plan, document: Document) -> list[Reason]:
    """Nothing where HAProxy took all commands. If not, nobody knows what it does now, and only a reload will do."""
    try:
        if plan.commands:
            await commands.apply(context.runtime, plan.commands)
            context.events.tell(ChangedLive([command.text for command in plan.commands]))
    except RuntimeFailure as error:
        context.running.is_in_doubt(f"a runtime command failed: {error}")
        place = plan.places.get(error.command) if isinstance(error, RuntimeRefused) else None
        return [reason_at(document, *place, context.running.doubt)] if place else context.running.reasons()
    return []


def _planned(context: CommitContext, running: Document, new: Document) -> Plan:
    """What is in the file has to reach the process, whatever goes wrong while the way there is sought."""
    try:
        return context.plan(running, new, context.runtime.capabilities)
    except Exception:
        log.exception("no plan for version %d", context.current.version)
        return Plan(reasons=[Reason("", 0, "", "it could not be told what changes in the process")])


async def _skip(context: CommitContext, change: Change, stamped: Stamped, new: Document) -> None:
    """No reload, whatever the text says; only what the client names is done."""
    running = context.running
    if context.pending is None:
        context.state_file.set(pending="")
    known = None if running.doubt else running.document
    if change.actions:
        plan = await beside(_planned, context, known, stamped.document) if known else None
        running.is_in_doubt("runtime actions were sent along with a text that HAProxy has not loaded")
        await actions.run(context.runtime, change.actions)
        if plan and await _is_done(context, plan):
            running.is_loaded(stamped.document, stamped_fingerprint(stamped))
    elif known and header.same_text(known, new):
        running.is_loaded(stamped.document, stamped_fingerprint(stamped))


async def _is_done(context: CommitContext, plan: Plan) -> bool:
    """Whether the process is seen to do already what a plan would make it do."""
    if plan.reasons or not all(command.check for command in plan.commands):
        return False
    try:
        await prove(context.runtime, [(command.text, command.check) for command in plan.commands if command.check])
    except RuntimeFailure:
        return False
    return True
