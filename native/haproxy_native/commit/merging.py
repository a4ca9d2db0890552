"""A change of an old version as one of whatever is current: what came between stays, and what collides with it is a conflict."""

from contextlib import suppress
from dataclasses import replace

from haproxy_native.beside import beside
from haproxy_native.commit.change import Change
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing import patches
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.header import same_text
from haproxy_native.errors import Collided, Missing, TextGone, Unreadable
from haproxy_native.planning.three_way import merged_onto
from haproxy_native.text import parts
from haproxy_native.text.document import Document


async def merging(context: CommitContext, change: Change, base: Document | None = None) -> Change:
    """The change, made on the text of its version and merged into the current one; it is committed on any version.

    `base`: that text, where it is known. Raises Conflict for a version that has not been, and TextGone for one of which no text is kept.
    """
    start, version = base or await text_of(context, change), change.version or 0
    made: list[Document] = []

    def edit(now: Document) -> Document:
        if same_text(now, start):
            return change.edit(now)
        made[:] = made or [change.edit(start)]
        try:
            return merged_onto(standard_editor(), start, now, made[0])
        except Collided as error:
            error.version = version
            raise

    return replace(change, edit=edit, version=None, sent=change.sent if start is context.current.document else {})


async def text_of(context: CommitContext, change: Change) -> Document:
    """The text of the version of a change: the current one, or a former one from the history or a backup. Raises Stale and TextGone."""
    current, version = context.current, change.version or 0
    with suppress(Unreadable):
        await current.notice_aside()
    if version == current.version:
        return current.document
    if version > current.version:
        change.compare(current.version)
    for published in reversed(context.unloaded):
        if published.version == version:
            return published.after
    if context.text_of and (data := await context.text_of(version)) is not None:
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
