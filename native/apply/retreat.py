"""The way back after a reload that HAProxy refused: the file becomes again what still runs, under a higher version.

Taken while the lock of `Site.loading` is held, so that file, memory and version change together.
"""

import logging

from native.apply.commit import Change, commit_locked
from native.apply.site import Site
from native.config import header
from native.errors import NativeError

log = logging.getLogger(__name__)


async def go_back(site: Site) -> int | None:
    """The version under which the file is again what runs; None where it was not changed."""
    loaded = site.loaded
    assert loaded
    site.memory.set(pending="")
    good = site.running.good()
    if good is None or header.same_text(good, loaded.document):
        return None
    if site.current.notice():
        log.warning("the reload failed, and the file has been edited by somebody else since; it is left as it is")
        return None
    back = Change(lambda _: good, skip_reload=True, banner=header.has_banner(good), checked=False)
    try:
        outcome = await commit_locked(site, back)
    except NativeError as error:
        log.error("the reload failed, and the file could not be put back to what runs: %s", error)
        return None
    log.warning("the reload failed; version %d is what HAProxy runs, version %d was refused", outcome.version, loaded.version)
    return outcome.version
