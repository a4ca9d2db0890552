"""After a reload: the loaded text becomes the running document, or the file is put back to what still runs.

Live changes may have been made while HAProxy loaded the text; they are made in the new worker as well. The caller holds the lock.
"""

import asyncio
import logging
from contextlib import nullcontext, suppress

from haproxy_native.commit import process
from haproxy_native.commit.change import Change
from haproxy_native.commit.commit import attempt
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.editing import header
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable
from haproxy_native.planning.outcome import Reason
from haproxy_native.runtime.client import Worker

log = logging.getLogger(__name__)


def settle(context: CommitContext) -> None:
    """Finishes the reloads of a former process that the worker in service comes of, whatever the file holds by now."""
    known, records = context.state_file.value, context.reloads.records
    worker = Worker(known.pid, known.started)
    if context.running.document is None or not worker.pid:
        return
    for record in records.loading:
        is_new = record.pid_before != worker.pid and worker.may_have_started_after(record.started or record.requested)
        if is_new and record.id != context.reloads.loading:
            records.finish(record.succeeded(worker.pid))


async def succeeded(context: CommitContext) -> None:
    """The new worker runs the loaded text. Its sockets and capabilities are asked for again."""
    if context.on_worker:
        with suppress(RuntimeFailure):
            await context.on_worker()
    assert context.load
    load, context.load = context.load, None
    running = context.running
    with suppress(RuntimeFailure):
        await context.runtime.refresh()
    await running.verify(load.loaded.document, load.loaded.fingerprint)
    context.ledger.loaded()
    if running.document is load.loaded.document and load.wanted is not load.loaded.document:
        running.missing = load.wanted
    with suppress(Unreadable):
        await context.current.notice_aside()
    if context.current.edits != load.edits:
        running.is_in_doubt("the file was edited by another process while HAProxy read it")
    if (reasons := await apply_missing(context)) and not context.pending:
        context.reloads.schedule(reasons)


async def apply_missing(context: CommitContext) -> list[Reason]:
    """Makes live in a new worker what its predecessor took live while it was loaded; returns the reasons where only a reload can.

    The worker has read the loaded text, or that with some of these changes.
    """
    running = context.running
    if running.missing is None:
        return []
    reasons = await process.apply_missing(context, running.missing)
    await asyncio.to_thread(context.loads.end)
    if running.document and not running.doubt and header.same_text(running.document, context.current.document):
        running.is_loaded(context.current.document, context.current.fingerprint)
    return reasons


async def failed(context: CommitContext) -> int | None:
    """Puts the file and stored files back to what runs; returns the file's new version, None where it stays as it is."""
    assert context.load
    load, context.load = context.load, None
    context.state_file.set(pending="")
    await _put_back(context)
    # A worker that was started from outside meanwhile, or of an earlier reload, may have come.
    await context.running.observe()
    settle(context)
    await apply_missing(context)
    good = context.running.good()
    if good is None or header.same_text(good, context.current.document):
        return None
    if await context.current.notice_aside() or context.current.edits != load.edits:
        log.warning("the reload failed, and another process has edited the file since; it is left as it is")
        return None
    back = Change(lambda _: good, skip_reload=True, banner=header.has_banner(good), checked=False)
    try:
        outcome = await attempt(context, back, nullcontext)
    except (NativeError, Overtaken) as error:
        log.error("the reload failed, and the file could not be put back to what runs: %s", error)
        return None
    finished = outcome.version, load.loaded.version
    log.warning("the reload failed; version %d is again what HAProxy had loaded, version %d was not taken", *finished)
    return outcome.version


async def _put_back(context: CommitContext) -> None:
    """Puts stored files back, except those that a worker started from outside has read meanwhile."""
    with suppress(RuntimeFailure):
        context.ledger.loaded_by(await context.runtime.worker())
    for path in await asyncio.to_thread(context.ledger.put_back):
        log.warning("the reload failed; %s holds again what HAProxy has loaded", path)
