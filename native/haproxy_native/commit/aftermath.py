"""What follows a reload: the running document is what was loaded, or the file goes back to what still runs.

Called while `CommitContext.loading` is entered, so that file, memory and version change together.
"""

import asyncio
import logging
from contextlib import suppress

from haproxy_native.commit.change import Change
from haproxy_native.commit.commit import prepare, publish
from haproxy_native.commit.context import CommitContext, LoadedText
from haproxy_native.editing import header
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable

log = logging.getLogger(__name__)


async def succeeded(context: CommitContext, loaded: LoadedText) -> None:
    """A new worker may be reached elsewhere and be able to do other things."""
    with suppress(RuntimeFailure):
        await context.runtime.refresh()
    await context.running.verify(loaded.document, loaded.fingerprint)
    context.ledger.loaded()
    with suppress(Unreadable):
        if await context.current.notice_aside():
            context.running.is_in_doubt("the file was edited by somebody else while HAProxy read it")


async def failed(context: CommitContext, loaded: LoadedText) -> int | None:
    """The version under which the file is again what runs; None where it was not changed. Stored files go back as well."""
    context.state_file.set(pending="")
    await _put_back(context)
    # A worker that somebody else started since has read the file as it is.
    await context.running.observe()
    good = context.running.good()
    if good is None or header.same_text(good, loaded.document):
        return None
    if await context.current.notice_aside():
        log.warning("the reload failed, and the file has been edited by somebody else since; it is left as it is")
        return None
    back = Change(lambda _: good, skip_reload=True, banner=header.has_banner(good), checked=False)
    try:
        outcome = await publish(context, back, await prepare(context, back))
    except NativeError as error:
        log.error("the reload failed, and the file could not be put back to what runs: %s", error)
        return None
    log.warning("the reload failed; version %d is again what HAProxy had loaded, version %d was not taken", outcome.version, loaded.version)
    return outcome.version


async def _put_back(context: CommitContext) -> None:
    """But for what a worker that somebody else started has read meanwhile."""
    with suppress(RuntimeFailure):
        context.ledger.loaded_by(await context.runtime.worker())
    for path in await asyncio.to_thread(context.ledger.put_back):
        log.warning("the reload failed; %s holds again what HAProxy has loaded", path)
