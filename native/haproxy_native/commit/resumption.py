"""After a restart of the server: settles the reloads that the former process left open, and schedules what is still pending."""

from dataclasses import replace

from haproxy_native.commit import aftermath
from haproxy_native.commit.context import CommitContext
from haproxy_native.planning.outcome import Reason
from haproxy_native.process_state import LoadsEnded
from haproxy_native.reload.records import INTERRUPTED, KEPT, Phase, Record

RESTARTED = Reason("", 0, "", "the server was restarted while this reload was pending")


async def resume(context: CommitContext, *, edited: bool) -> None:
    """Resumes, at the start, after `Running.restore`. `edited`: the file is not what the former process knew."""
    aftermath.settle(context)
    await aftermath.apply_missing(context)
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
