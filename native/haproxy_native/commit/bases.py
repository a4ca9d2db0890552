"""The texts of former versions, which changes are rebased from."""

from contextlib import suppress
from dataclasses import replace

from haproxy_native.beside import beside
from haproxy_native.changes.expect import Rebase, Version
from haproxy_native.commit.change import Change
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing import patches
from haproxy_native.errors import Missing, TextGone, Unreadable
from haproxy_native.text import parts
from haproxy_native.text.document import Document


async def on_its_base(context: CommitContext, change: Change) -> Change:
    """The change with the text of the version that it is made on, where it is rebased.

    Raises Conflict for a version that has not been, and TextGone for one of which no text is kept.
    """
    if not isinstance(change.expect, Rebase) or change.expect.base is not None:
        return change
    return replace(change, expect=replace(change.expect, base=await text_of(context, change.expect.number)))


async def text_of(context: CommitContext, version: int) -> Document:
    """The text of a version: the current one, or a former one from the history or a backup. Raises Stale and TextGone."""
    current = context.current
    with suppress(Unreadable):
        await current.notice_aside()
    if version == current.version:
        return current.document
    if version > current.version:
        Version(version).compare(current.version)
    for published in reversed(context.unloaded):
        if published.version == version:
            return published.after
    if (data := await context.recorder.text_of(version)) is not None:
        return await beside(lambda: patches.sharing(Document.parse(data), current.document))
    try:
        return await beside(_backup, context, version)
    except (Missing, Unreadable):
        raise TextGone(
            f"version in configuration file is {current.version}, given version is {version}, of which neither the history "
            "nor a backup has the text any more, so that nothing can be merged"
        ) from None


def _backup(context: CommitContext, version: int) -> Document:
    texts = {name: context.backups.of(name).read(version) for name in parts.parts(context.current.document)}
    return parts.with_parts(context.current.document, {name: Document.parse(data) for name, data in texts.items()})
