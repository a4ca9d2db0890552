"""After a reload: the loaded text becomes the running document, or what HAProxy refuses is taken back.

`resume` does that at the start for the reloads that the former process left open, and schedules what is still pending.

Where it names lines (native/haproxy_native/commit/guilty.py), only the changes that brought them go, and the rest is loaded by the next
reload; else the file is put back to what still runs.

Live changes may have been made while HAProxy loaded the text; they are made in the new worker as well. The caller holds the lock.
"""

import logging
from collections.abc import Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace

from haproxy_native.beside import beside
from haproxy_native.changes.operations import PutDocument
from haproxy_native.commit import guilty, process
from haproxy_native.commit.change import Change, Published, Reload, Validation
from haproxy_native.commit.commit import attempt
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Current, Overtaken
from haproxy_native.editing import header
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable
from haproxy_native.planning.observed import ServerDifference
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import CommandsProved, Doubted, Load, LoadsEnded, ReloadFailed
from haproxy_native.reload.records import INTERRUPTED, KEPT, MOST_REASONS, TAKEN_BACK, Phase, Record
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
# The author of what is put back after a reload that fails.
RELOAD = "reload"


def settle(context: CommitContext) -> None:
    """Finishes the reloads of a former process that the worker in service comes of, whatever the file holds by now."""
    worker, records = context.running.worker, context.reloads.records
    if context.running.document is None or worker is None:
        return
    for record in records.loading:
        is_new = record.pid_before != worker.pid and worker.may_have_started_after(record.started or record.requested)
        if is_new and record.id != context.reloads.loading:
            records.finish(record.succeeded(worker.pid))


async def succeeded(context: CommitContext) -> None:
    """The new worker runs the loaded text. Its sockets and capabilities are asked for again."""
    with suppress(RuntimeFailure):
        await context.observers.loaded()
    running, load = context.running, context.load
    assert load
    with suppress(RuntimeFailure):
        await context.runtime.refresh()
    await running.succeeded()
    while context.unloaded and context.unloaded[0].version <= load.version:
        context.unloaded.popleft()
    context.ledger.loaded()
    with suppress(Unreadable):
        await context.current.notice_aside()
    if context.current.edits != load.edits:
        running.step(Doubted("the file was edited by another process while HAProxy read it"))
    if (reasons := await apply_missing(context)) and not context.pending:
        context.reloads.schedule(reasons)


async def differences(context: CommitContext) -> list[str]:
    """Return, and log, where a new worker differs from the text that it loaded because it read a server-state file."""
    found: Sequence[ServerDifference] = ()
    with suppress(RuntimeFailure):
        found = await context.observers.from_state_files()
    shown = [
        f"{each.member} of server {each.backend}/{each.server} is {each.value}, from the server-state file, and not {each.declared}"
        for each in found[:MOST_REASONS]
    ]
    for text in shown:
        log.warning("%s", text)
    return shown


async def apply_missing(context: CommitContext) -> list[Reason]:
    """Makes live in a new worker what its predecessor took live while it was loaded; returns the reasons where only a reload can.

    The worker has read the loaded text, or that with some of these changes.
    """
    running = context.running
    if (target := running.state.target) is None:
        return []
    reasons = await process.apply_missing(context, target)
    running.step(LoadsEnded())
    if running.document and not running.is_doubtful and header.same_text(running.document, context.current.document):
        running.step(CommandsProved(context.current.text, is_file=True))
    return reasons


async def failed(context: CommitContext, record: Record) -> Record:
    """Takes back the changes that brought the lines which HAProxy names, or all that it had not loaded, and stored files.

    Returns the record with what became of each change, and with the file's new version where it has one.
    """
    load = context.load
    assert load
    context.running.step(ReloadFailed())
    await _put_back(context)
    # A worker that was started from outside meanwhile, or of an earlier reload, may have come.
    await context.running.observe()
    settle(context)
    await apply_missing(context)
    good = context.running.last_good
    if good is None or header.same_text(good, context.current.document):
        return record
    if await _is_edited(context, load):
        return record
    changes = [change for change in context.unloaded if change.version <= load.version]
    if decided := await beside(_decided, record.response, load.text.document, context.current, changes):
        guilty, rest = decided
        if not header.same_text(rest, good):
            if taken_back := await _take_back_some(context, record, changes, guilty, rest):
                return taken_back
            if await _is_edited(context, load):
                return record
    return await _take_back_all(context, record, changes, good, load)


async def _is_edited(context: CommitContext, load: Load) -> bool:
    """True if another process has edited the file since HAProxy was made to read it."""
    if is_edited := await context.current.notice_aside() or context.current.edits != load.edits:
        log.warning("the reload failed, and another process has edited the file since; it is left as it is")
    return is_edited


def _decided(output: str, loaded: Document, current: Current, changes: Sequence[Published]) -> tuple[list[Published], Document] | None:
    """The changes that go back, and the configuration without them; None where these alone cannot be taken back."""
    named = guilty.guilty(changes, guilty.named(output, loaded, current.path.name))
    # Stored files that wait have been put back, and what was changed with them goes with them.
    going_back = [change for change in changes if change in named or change.with_files] if named else []
    try:
        return (going_back, guilty.without_all(current.document, going_back)) if going_back else None
    except NativeError as error:
        log.info("the change that HAProxy refuses cannot be taken back among later ones: %s", error)
        return None


async def _take_back_some(
    context: CommitContext, record: Record, changes: Sequence[Published], going: Sequence[Published], rest: Document
) -> Record | None:
    """Commits the rest, live or with a reload; None where HAProxy does not accept it, with nothing changed."""
    record = await _noted(context, record, changes, going)
    back = Change([PutDocument(rest)], validation=Validation.ALWAYS, author=_author(record))
    try:
        outcome = await attempt(context, back, nullcontext)
    except (NativeError, Overtaken) as error:
        log.info("what is left without the change that HAProxy refuses cannot be tried: %s", error)
        return None
    left = [change for change in context.unloaded if change not in going and change.version != outcome.version]
    context.unloaded.clear()
    context.unloaded.extend(left)
    versions = ", ".join(str(change.version) for change in going)
    log.warning("the reload failed; version %d is without the change of version %s", outcome.version, versions)
    _tell_edits(record)
    return replace(record, restored_version=outcome.version, rest_reload_id=outcome.reload_id or "")


async def _take_back_all(context: CommitContext, record: Record, changes: Sequence[Published], good: Document, load: Load) -> Record:
    """Puts the file back to what runs; returns the record as it is where that cannot be written."""
    is_known = context.running.document is not None
    noted = await _noted(context, record, changes, [change for change in changes if not (change.is_live and is_known)])
    put = PutDocument(good, banner=header.has_banner(good))
    back = Change([put], reload=Reload.NONE, validation=Validation.NEVER, author=_author(record))
    try:
        outcome = await attempt(context, back, nullcontext)
    except (NativeError, Overtaken) as error:
        log.error("the reload failed, and the file could not be put back to what runs: %s", error)
        return record
    context.unloaded.clear()
    finished = outcome.version, load.version
    log.warning("the reload failed; version %d is again what HAProxy had loaded, version %d was not taken", *finished)
    _tell_edits(noted)
    return replace(noted, restored_version=outcome.version)


def _author(record: Record) -> Author:
    return Author(RELOAD, cause=f"{RELOAD}/{record.id}")


async def _noted(context: CommitContext, record: Record, changes: Sequence[Published], going: Sequence[Published]) -> Record:
    """The record with what becomes of each change, which is on disk before the file is replaced."""
    shown = []
    for change in changes:
        entry = change.entry or await context.recorder.entry_of(change.version)
        members = {"author": change.author.name, "request_id": change.author.request_id, "entry": str(entry or "")}
        known = {name: value for name, value in members.items() if value}
        shown.append({"version": change.version, "outcome": TAKEN_BACK if change in going else KEPT, **known})
    records = context.reloads.records
    records.update(replace(records.get(record.id), changes=tuple(shown)))
    return replace(record, changes=tuple(shown))


def lost_edits(record: Record) -> list[str]:
    """How to get the edits of others that were taken back."""
    edits = [each for each in record.changes if each["outcome"] == TAKEN_BACK and each.get("author") == OUTSIDE]
    where = [f"entry {each['entry']} of the history has it" if "entry" in each else "the history does not have it" for each in edits]
    return [f"version {each['version']}, an edit by another process, was taken back; {has}" for each, has in zip(edits, where, strict=True)]


def _tell_edits(record: Record) -> None:
    for text in lost_edits(record):
        log.warning("%s", text)


async def _put_back(context: CommitContext) -> None:
    """Puts stored files back, except those that a worker started from outside has read meanwhile."""
    with suppress(RuntimeFailure):
        context.ledger.loaded_by(await context.runtime.worker())
    for path in await context.ledger.put_back():
        log.warning("the reload failed; %s holds again what HAProxy has loaded", path)


RESTARTED = Reason("", 0, "", "the server was restarted while this reload was pending")


async def resume(context: CommitContext, *, edited: bool) -> None:
    """Resumes, at the start, after `Running.restore`. `edited`: the file is not what the former process knew."""
    settle(context)
    await apply_missing(context)
    _resume(context, edited=edited)
    if context.pending is None:
        context.running.step(LoadsEnded())


def _resume(context: CommitContext, *, edited: bool) -> None:
    records, current = context.reloads.records, context.current
    owed = current.fingerprint in context.running.state.pending and context.running.document is not current.document
    parted = list[Record]()
    for record in records.interrupted:
        if ended := _ended(record, context, owed=owed, edited=edited):
            finished = records.finish(ended)
            parted += [finished] if any(change["outcome"] == KEPT for change in finished.changes) else []
    if owed or context.ledger.waits or records.interrupted:
        changed = any(record.phase == Phase.LOADING and record.version != current.version for record in records.interrupted[-1:])
        rest = context.reloads.resume([RESTARTED], changed=changed)
        for record in parted:
            records.update(replace(record, rest_reload_id=rest))


def _ended(record: Record, context: CommitContext, *, owed: bool, edited: bool) -> Record | None:
    """The record with its outcome; None where another reload decides."""
    if record.phase == Phase.REFUSED and record.version is not None and context.current.version > record.version:
        # The file has been put back already.
        return record.failed(record.error or INTERRUPTED)
    if pid := context.runs_since(record.requested):
        return record.succeeded(pid)
    return record.failed(INTERRUPTED) if edited and not owed else None
