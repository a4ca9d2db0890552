"""What follows a reload: the running document is what was loaded, or the file goes back to what still runs.

Called while `Site.loading` is entered, so that file, memory and version change together.
"""

import asyncio
import logging
from contextlib import suppress

from haproxy_native.commit.change import Change
from haproxy_native.commit.commit import prepare, publish
from haproxy_native.commit.context import Loaded, Site
from haproxy_native.editing import header
from haproxy_native.errors import NativeError, RuntimeFailure, Unreadable

log = logging.getLogger(__name__)


async def succeeded(site: Site, loaded: Loaded) -> None:
    """A new worker may be reached elsewhere and be able to do other things."""
    with suppress(RuntimeFailure):
        await site.runtime.refresh()
    await site.running.verify(loaded.document, loaded.fingerprint)
    site.stored.loaded()
    with suppress(Unreadable):
        if await site.current.notice_aside():
            site.running.is_in_doubt("the file was edited by somebody else while HAProxy read it")


async def failed(site: Site, loaded: Loaded) -> int | None:
    """The version under which the file is again what runs; None where it was not changed. Stored files go back as well."""
    site.memory.set(pending="")
    await _put_back(site)
    # A worker that somebody else started since has read the file as it is.
    await site.running.observe()
    good = site.running.good()
    if good is None or header.same_text(good, loaded.document):
        return None
    if await site.current.notice_aside():
        log.warning("the reload failed, and the file has been edited by somebody else since; it is left as it is")
        return None
    back = Change(lambda _: good, skip_reload=True, banner=header.has_banner(good), checked=False)
    try:
        outcome = await publish(site, back, await prepare(site, back))
    except NativeError as error:
        log.error("the reload failed, and the file could not be put back to what runs: %s", error)
        return None
    log.warning("the reload failed; version %d is again what HAProxy had loaded, version %d was not taken", outcome.version, loaded.version)
    return outcome.version


async def _put_back(site: Site) -> None:
    """But for what a worker that somebody else started has read meanwhile."""
    with suppress(RuntimeFailure):
        site.stored.loaded_by(await site.runtime.worker())
    for path in await asyncio.to_thread(site.stored.put_back):
        log.warning("the reload failed; %s holds again what HAProxy has loaded", path)
