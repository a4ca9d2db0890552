"""Shapes for the backends of a change that needs a reload, written with it where HAProxy accepts them."""

import logging
from collections.abc import Sequence

from haproxy_native.beside import beside
from haproxy_native.check.messages import Message
from haproxy_native.commit.change import Change
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing import header
from haproxy_native.editing.shape_file import shapes_of
from haproxy_native.planning.shapes import Shapes
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)


async def shaped(context: CommitContext, change: Change, before: Document, new: Document) -> Document:
    """The new document with the shapes that it wants, where the change needs a reload by itself; else the same one."""
    if not context.shapes or not change.checked or change.skip_reload or change.gated or context.has_unloaded:
        return new
    if not context.runtime.capabilities.adds_backends or await beside(header.same_text, before, new):
        return new
    running = context.running.document
    if change.force_reload or running is None or context.running.reasons():
        return await beside(_provided, context, new)
    plan = await beside(context.plan, running, new, context.runtime.capabilities)
    return await beside(_provided, context, new) if plan.reasons else new


def _provided(context: CommitContext, new: Document) -> Document:
    shapes = Shapes(context.runtime.capabilities.backend_keywords)
    return shapes.provided(new, context.shapes, context.refused_shapes)


def refuse(context: CommitContext, shaped: Document, new: Document, reported: Sequence[object], *, is_refused: bool = False) -> bool:
    """Remembers the new shapes that HAProxy names, of a text that it refused without naming one all of them; True if there are any.

    A warning counts as well: HAProxy warns of a line that it ignores in a defaults section.
    """
    coming = {shape.name for shape in shapes_of(shaped)} - {shape.name for shape in shapes_of(new)}
    messages = [message for message in reported if isinstance(message, Message)]
    named = {name for name in coming if any(name in f"{message.section} {message.text}" for message in messages)}
    refused = named or (coming if is_refused else set())
    if refused:
        words = next((message.text for message in messages), "it gave no reason")
        log.info("HAProxy does not take %s of %d new shapes of backends: %s", len(refused), len(coming), words)
        context.refused_shapes |= refused
    return bool(refused)
