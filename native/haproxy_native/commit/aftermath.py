"""What follows a reload: the running document is what was loaded, or the file goes back to what still runs.

Others may have changed the file while HAProxy read it. What the former worker took live meanwhile is made live in the new one; what
needs a reload has one of its own.
"""

import asyncio
import logging
from contextlib import suppress

from haproxy_native.commit import file_change
from haproxy_native.commit.change import Change
from haproxy_native.commit.commit import apply_again, prepare, publish
from haproxy_native.commit.context import Load, Site
from haproxy_native.editing import header
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable
from haproxy_native.planning.outcome import Reason

log = logging.getLogger(__name__)
BESIDE = Reason("", 0, "", "a stored file was changed while HAProxy loaded its configuration")


async def succeeded(site: Site) -> None:
    """The caller holds the lock. A new worker may be reached elsewhere and be able to do other things."""
    assert site.load
    load, site.load = site.load, None
    with suppress(RuntimeFailure):
        await site.runtime.refresh()
    await site.running.verify(load.loaded.document, load.loaded.fingerprint)
    if site.pending:
        site.memory.set(pending=site.current.fingerprint)
    site.stored.loaded(load.turn)
    with suppress(Unreadable):
        if await site.current.notice_aside():
            site.running.is_in_doubt("the file was edited by somebody else while HAProxy read it")
    await _catch_up(site, load)


async def _catch_up(site: Site, load: Load) -> None:
    reasons = await apply_again(site, load.edits)
    await file_change.catch_up(site, load.files)
    if load.files and site.stored.waits:
        reasons = [*reasons, BESIDE]
    if reasons and not site.reloads.pending:
        site.reloads.schedule(reasons)


async def failed(site: Site) -> int | None:
    """The version under which the file is again what runs; None where it was not changed. Stored files go back as well.

    The caller holds the lock. A file for which another reload is scheduled already stays as it is: that one decides.
    """
    assert site.load
    load, site.load = site.load, None
    if not site.pending:
        site.memory.set(pending="")
    await _put_back(site, load)
    # A worker that somebody else started since has read the file as it is.
    await site.observe()
    good = site.running.good()
    if good is None or header.same_text(good, site.current.document):
        return None
    if await site.current.notice_aside():
        log.warning("the reload failed, and the file has been edited by somebody else since; it is left as it is")
        return None
    if site.pending and site.current.document is not load.loaded.document:
        log.warning("the reload failed; version %d came meanwhile, and its own reload decides", site.current.version)
        return None
    back = Change(lambda _: good, skip_reload=True, banner=header.has_banner(good), checked=False)
    try:
        prepared = await prepare(site, back)
        outcome = await publish(site, back, prepared)
    except NativeError as error:
        log.error("the reload failed, and the file could not be put back to what runs: %s", error)
        return None
    finished = outcome.version, load.loaded.version
    log.warning("the reload failed; version %d is again what HAProxy had loaded, version %d was not taken", *finished)
    return outcome.version


async def _put_back(site: Site, load: Load) -> None:
    """But for what a worker that somebody else started has read meanwhile."""
    with suppress(RuntimeFailure):
        site.stored.loaded_by(await site.runtime.worker())
    for path in await asyncio.to_thread(site.stored.put_back, load.turn):
        log.warning("the reload failed; %s holds again what HAProxy has loaded", path)
