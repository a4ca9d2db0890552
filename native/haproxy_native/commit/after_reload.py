"""Handle the outcome of a reload: record the loaded text as the running document, or revert the changes that HAProxy refuses.

If HAProxy's alerts name lines, only the changes that introduced these lines are reverted, and the next reload loads the rest. The second
half of this module finds these changes. If the alerts name no lines, or if those changes cannot be reverted alone, the file is
restored to the text that the worker still runs. Either way the file gets a new, higher version. Stored files are restored first, from the
ledger.

Live changes may have been made while HAProxy loaded the text; they are applied to the new worker as well.

If this server is killed during a reload, the record of the reload stays open. At the next start, `resume` concludes its outcome from the
worker that answers then, and schedules a reload for what is still pending.

The caller holds the locks.
"""

import logging
from collections.abc import Iterator, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from pathlib import PurePath
from typing import NamedTuple

from haproxy_native.changes.operations import PutDocument
from haproxy_native.changes.rebasing import revert_change
from haproxy_native.check.messages import Places, parse_messages
from haproxy_native.commit import process
from haproxy_native.commit.change import Change, Published, Reload, Validation
from haproxy_native.commit.commit import attempt
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Current, Overtaken
from haproxy_native.editing import header
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable
from haproxy_native.planning.observed import ServerDifference
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import CommandsProved, Doubted, Load, LoadsEnded, ReloadRejected
from haproxy_native.reload.records import INTERRUPTED, KEPT, MOST_REASONS, TAKEN_BACK, Phase, ReloadRecord
from haproxy_native.request_context import OUTSIDE, Author
from haproxy_native.text import parts
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

log = logging.getLogger(__name__)
# The author of the changes that restore the file after a failed reload.
RELOAD = "reload"


def finish_interrupted(context: CommitContext) -> None:
    """Record interrupted reloads as succeeded if the worker has started since the reload began.

    The file may have a different content by now.
    """
    worker, records = context.running.worker, context.reloads.records
    if context.running.document is None or worker is None:
        return
    for record in records.loading:
        is_new = record.pid_before != worker.pid and worker.may_have_started_after(record.started or record.requested)
        if is_new and record.id != context.reloads.loading:
            records.finish(record.succeeded(worker.pid))


async def handle_success(context: CommitContext) -> None:
    """Record that the new worker runs the loaded text, query its capabilities, and apply to it the changes made during the reload.

    Schedules another reload if those changes need one.
    """
    with suppress(RuntimeFailure):
        for observer in context.observers:
            await observer.loaded()
    running, load = context.running, context.load
    assert load
    with suppress(RuntimeFailure):
        await context.runtime.refresh()
    await running.succeeded()
    while context.unloaded and context.unloaded[0].version <= load.version:
        context.unloaded.popleft()
    context.ledger.loaded()
    with suppress(Unreadable):
        await context.current.notice_in_thread()
    if context.current.edits != load.edits:
        running.step(Doubted(Reason("the file was edited by another process while HAProxy read it")))
    if (reasons := await apply_missing(context)) and not context.pending:
        context.reloads.schedule(reasons)


async def differences(context: CommitContext) -> list[str]:
    """Return a sentence for each member of a server that differs from the text, and log the sentences.

    Such differences arise if the new worker has read a server-state file.
    """
    found = list[ServerDifference]()
    with suppress(RuntimeFailure):
        found = [each for observer in context.observers for each in await observer.from_state_files()]
    shown = [
        f"{each.member} of server {each.backend}/{each.server} is {each.value}, from the server-state file, and not {each.declared}"
        for each in found[:MOST_REASONS]
    ]
    for text in shown:
        log.warning("%s", text)
    return shown


async def apply_missing(context: CommitContext) -> list[Reason]:
    """Apply to a new worker the changes that the previous worker accepted at runtime during the reload.

    Return the reasons for another reload; empty if runtime commands are enough. The new worker may have read some of these changes already.
    """
    running = context.running
    if (target := running.state.target) is None:
        return []
    reasons = await process.apply_missing(context, target)
    running.step(LoadsEnded())
    if running.document and not running.is_doubtful and header.same_text(running.document, context.current.document):
        running.step(CommandsProved(context.current.text, is_file=True))
    return reasons


async def handle_failure(context: CommitContext, record: ReloadRecord) -> ReloadRecord:
    """Restore stored files, and revert the changes that introduced the lines named in HAProxy's alerts.

    If these changes cannot be found or reverted alone, revert all changes that HAProxy has not loaded. If another process has edited the
    file since HAProxy read it, revert nothing. Returns the record with the outcome of each change and the new version of the file.
    """
    load = context.load
    assert load
    context.running.step(ReloadRejected())
    # Stored files that a worker has read meanwhile are left as they are.
    with suppress(RuntimeFailure):
        context.ledger.loaded_by(await context.runtime.worker())
    for path in await context.ledger.restore_all():
        log.warning("the reload failed; restored %s to what HAProxy has loaded", path)
    # An operator or an earlier reload may have started a worker meanwhile.
    await context.running.observe()
    finish_interrupted(context)
    await apply_missing(context)
    good = context.running.last_good
    if good is None or header.same_text(good, context.current.document):
        return record
    if await _is_edited(context, load):
        return record
    changes = [change for change in context.unloaded if change.version <= load.version]
    if found := await run_in_thread(_find_failing_changes, record.response, load.text.document, context.current, changes):
        failing, rest = found
        if not header.same_text(rest, good):
            if reverted_some := await _revert_failing(context, record, changes, failing, rest):
                return reverted_some
            if await _is_edited(context, load):
                return record
    return await _revert_all(context, record, changes, good, load)


async def _is_edited(context: CommitContext, load: Load) -> bool:
    """Return whether another process has edited the file since HAProxy read it for the reload."""
    if is_edited := await context.current.notice_in_thread() or context.current.edits != load.edits:
        log.warning("the reload failed, and another process has edited the file since; it is left as it is")
    return is_edited


def _find_failing_changes(
    output: str, loaded: Document, current: Current, changes: Sequence[Published]
) -> tuple[list[Published], Document] | None:
    """Return the changes to revert, and the configuration without these changes; None if they cannot be found or reverted alone."""
    named = failing_changes(changes, named_lines(output, loaded, current.path.name))
    # Stored files that waited for the reload have been restored, so changes that were committed with such files are reverted as well.
    failing = [change for change in changes if change in named or change.with_files] if named else []
    try:
        return (failing, without_changes(current.document, failing)) if failing else None
    except NativeError as error:
        log.info("the failing change cannot be reverted among later ones: %s", error)
        return None


async def _revert_failing(
    context: CommitContext, record: ReloadRecord, changes: Sequence[Published], failing: Sequence[Published], rest: Document
) -> ReloadRecord | None:
    """Commit `rest`, the configuration without the failing changes. Return None, with nothing changed, if HAProxy refuses that, too."""
    record = await _with_outcomes(context, record, changes, failing)
    try:
        outcome = await attempt(context, Change([PutDocument(rest)], validation=Validation.ALWAYS, author=_author(record)), nullcontext)
    except (NativeError, Overtaken) as error:
        log.info("the configuration without the failing change cannot be loaded: %s", error)
        return None
    left = [change for change in context.unloaded if change not in failing and change.version != outcome.version]
    context.unloaded.clear()
    context.unloaded.extend(left)
    versions = ", ".join(str(change.version) for change in failing)
    log.warning("the reload failed; version %d is without the change of version %s", outcome.version, versions)
    _log_lost_edits(record)
    return replace(record, restored_version=outcome.version, rest_reload_id=outcome.reload_id or "")


async def _revert_all(
    context: CommitContext, record: ReloadRecord, changes: Sequence[Published], good: Document, load: Load
) -> ReloadRecord:
    """Restore the file to `good`, the text that the worker still runs. Return the record unchanged if the file cannot be written."""
    is_known = context.running.document is not None
    failing = [change for change in changes if not (change.is_live and is_known)]
    with_outcomes = await _with_outcomes(context, record, changes, failing)
    put = PutDocument(good, banner=header.has_banner(good))
    restoring = Change([put], reload=Reload.NONE, validation=Validation.NEVER, author=_author(record))
    try:
        outcome = await attempt(context, restoring, nullcontext)
    except (NativeError, Overtaken) as error:
        log.error("the reload failed, and the file could not be restored to what runs: %s", error)
        return record
    context.unloaded.clear()
    versions = outcome.version, load.version
    log.warning("the reload failed; version %d is again what HAProxy had loaded, version %d was not loaded", *versions)
    _log_lost_edits(with_outcomes)
    return replace(with_outcomes, restored_version=outcome.version)


def _author(record: ReloadRecord) -> Author:
    return Author(RELOAD, cause=f"{RELOAD}/{record.id}")


async def _with_outcomes(
    context: CommitContext, record: ReloadRecord, changes: Sequence[Published], failing: Sequence[Published]
) -> ReloadRecord:
    """Return the record with the outcome of each change, and queue the write of the record.

    The record is on disk before the file is replaced.
    """
    shown = []
    for change in changes:
        entry = change.entry or await context.recorder.entry_of(change.version)
        members = {"author": change.author.name, "request_id": change.author.request_id, "entry": str(entry or "")}
        known = {name: value for name, value in members.items() if value}
        shown.append({"version": change.version, "outcome": TAKEN_BACK if change in failing else KEPT, **known})
    records = context.reloads.records
    records.update(replace(records.get(record.id), changes=tuple(shown)))
    return replace(record, changes=tuple(shown))


def lost_edits(record: ReloadRecord) -> list[str]:
    """Return a sentence for each edit by another process that was reverted. The sentence names the entry of the history with its text."""
    edits = [each for each in record.changes if each["outcome"] == TAKEN_BACK and each.get("author") == OUTSIDE]
    where = [f"entry {each['entry']} of the history has it" if "entry" in each else "the history does not have it" for each in edits]
    return [f"version {each['version']}, an edit by another process, was reverted; {has}" for each, has in zip(edits, where, strict=True)]


def _log_lost_edits(record: ReloadRecord) -> None:
    for text in lost_edits(record):
        log.warning("%s", text)


RESTARTED = Reason("the server was restarted while this reload was pending")


async def resume(context: CommitContext, *, edited: bool) -> None:
    """Determine the outcome of interrupted reloads, and schedule a reload for what is pending.

    Called at the start, after `RunningProcess.restore`. `edited`: whether the file differs from the one that the previous server process
    knew.
    """
    finish_interrupted(context)
    await apply_missing(context)
    records, current = context.reloads.records, context.current
    is_pending = current.fingerprint in context.running.state.pending and context.running.document is not current.document
    with_kept = list[ReloadRecord]()
    for record in records.interrupted:
        if record.phase == Phase.REFUSED and record.version is not None and current.version > record.version:
            # The file was restored already.
            ended = record.failed(record.error or INTERRUPTED)
        elif pid := context.runs_since(record.requested):
            ended = record.succeeded(pid)
        elif edited and not is_pending:
            ended = record.failed(INTERRUPTED)
        else:
            # Only another reload can show whether HAProxy loads the text.
            continue
        finished = records.finish(ended)
        if any(change["outcome"] == KEPT for change in finished.changes):
            with_kept.append(finished)
    if is_pending or context.ledger.waits or records.interrupted:
        changed = any(record.phase == Phase.LOADING and record.version != current.version for record in records.interrupted[-1:])
        rest = context.reloads.resume([RESTARTED], changed=changed)
        for record in with_kept:
            records.update(replace(record, rest_reload_id=rest))
    if context.pending is None:
        context.running.step(LoadsEnded())


# -- which changes fail


class NamedLine(NamedTuple):
    """A line of a configuration: the header of its section, and the line itself."""

    section: str | None
    line: str


def named_lines(output: str, loaded: Document, file: str) -> set[NamedLine]:
    """Return the lines that HAProxy's alerts name. `file`: the name of the main file, without its directory."""
    alerts = [message for message in parse_messages(output, {}) if message.level == "alert" and message.file and message.line]
    files = {PurePath(name or file).name: Places(part) for name, part in parts.parts(loaded).items()} if alerts else {}
    found = set[NamedLine]()
    for alert in alerts:
        if (part := files.get(PurePath(alert.file or "").name)) and alert.line:
            section, line = part.locate(alert.line)
            if line:
                found.add(NamedLine(section, line))
    return found


def failing_changes(changes: Sequence[Published], lines: set[NamedLine]) -> list[Published]:
    """Return, for each line, the last change that introduced it, in the order of the changes. Lines older than all changes are ignored."""
    failing, left = list[Published](), set(lines)
    for change in reversed(changes):
        new_lines = set(_lines(change.after, change.before)) - set(_lines(change.before, change.after))
        if introduced := left & new_lines:
            failing.insert(0, change)
            left -= introduced
    return failing


def without_changes(document: Document, changes: Sequence[Published]) -> Document:
    """Return the configuration `document` without some of its changes. Raises Conflict if a later change overlaps with one of them."""
    for change in reversed(changes):
        document = revert_change(document, change.before, change.after)
    return document


def _lines(document: Document, other: Document) -> Iterator[NamedLine]:
    """Yield the lines of each section that `document` does not share with `other`."""
    shared = set(map(id, other.sections))
    for section in document.sections:
        if id(section) not in shared:
            header = section.header.text.strip()
            yield from (NamedLine(header, line.text.strip()) for line in section.lines)
