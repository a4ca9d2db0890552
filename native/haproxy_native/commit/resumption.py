"""After a restart of the server: what became of the reloads that the former process left open, and which of them is carried out now."""

from haproxy_native.commit.context import Site
from haproxy_native.planning.outcome import Reason
from haproxy_native.reload.records import INTERRUPTED, Phase, Record

RESTARTED = Reason("", 0, "", "the server was restarted while this reload was pending")


def resume(site: Site, *, edited: bool) -> None:
    """At start, when it is known what the worker runs. `edited`: the file is not what the former process knew."""
    records = site.reloads.records
    owed = site.current.fingerprint in site.memory.value.pending.split() and site.running.document is not site.current.document
    for record in records.interrupted:
        if ended := _ended(record, site, owed=owed, edited=edited):
            records.finish(ended)
    if owed or site.stored.waits or records.interrupted:
        site.reloads.resume([RESTARTED])


def _ended(record: Record, site: Site, *, owed: bool, edited: bool) -> Record | None:
    """The record with its outcome; None where only a reload will tell."""
    if record.phase == Phase.REFUSED and record.version is not None and site.current.version > record.version:
        # The file has been put back already.
        return record.failed(record.error or INTERRUPTED)
    worker = site.memory.value
    if site.running.is_current and not site.stored.waits and worker.started > record.requested:
        return record.succeeded(worker.pid)
    return record.failed(INTERRUPTED) if edited and not owed else None
