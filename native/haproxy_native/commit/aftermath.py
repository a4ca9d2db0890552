"""After a reload: the loaded text becomes the running document, or the file is put back to what still runs.

The caller holds the lock (`CommitContext.loading`).
"""

import asyncio
import logging
from contextlib import nullcontext, suppress

from haproxy_native.commit.change import Change
from haproxy_native.commit.commit import attempt
from haproxy_native.commit.context import CommitContext, LoadedText
from haproxy_native.commit.current import Overtaken
from haproxy_native.editing import header
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable

log = logging.getLogger(__name__)


async def succeeded(context: CommitContext, loaded: LoadedText) -> None:
    """The new worker runs the loaded text. Its sockets and capabilities are asked for again."""
    with suppress(RuntimeFailure):
        await context.runtime.refresh()
    await context.running.verify(loaded.document, loaded.fingerprint)
    context.ledger.loaded()
    with suppress(Unreadable):
        if await context.current.notice_aside() or context.current.document is not loaded.document:
            context.running.is_in_doubt("the file was edited by another process while HAProxy read it")


async def failed(context: CommitContext, loaded: LoadedText) -> int | None:
    """Puts the file and stored files back to what runs; returns the file's new version, None where it stays as it is."""
    context.state_file.set(pending="")
    await _put_back(context)
    # A worker that was started from outside meanwhile has read the file as it is.
    await context.running.observe()
    good = context.running.good()
    if good is None or header.same_text(good, loaded.document):
        return None
    if await context.current.notice_aside() or context.current.document is not loaded.document:
        log.warning("the reload failed, and another process has edited the file since; it is left as it is")
        return None
    back = Change(lambda _: good, skip_reload=True, banner=header.has_banner(good), checked=False)
    try:
        outcome = await attempt(context, back, nullcontext())
    except (NativeError, Overtaken) as error:
        log.error("the reload failed, and the file could not be put back to what runs: %s", error)
        return None
    log.warning("the reload failed; version %d is again what HAProxy had loaded, version %d was not taken", outcome.version, loaded.version)
    return outcome.version


async def _put_back(context: CommitContext) -> None:
    """Puts stored files back, except those that a worker started from outside has read meanwhile."""
    with suppress(RuntimeFailure):
        context.ledger.loaded_by(await context.runtime.worker())
    for path in await asyncio.to_thread(context.ledger.put_back):
        log.warning("the reload failed; %s holds again what HAProxy has loaded", path)
