"""Whether the author of a change has the right to what it does."""

from collections.abc import Sequence

from haproxy_native.commit import process
from haproxy_native.commit.change import Change, Edit, Texts
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.file_change import ASKED
from haproxy_native.editing import header
from haproxy_native.editing.editor import standard_editor
from haproxy_native.errors import Forbidden
from haproxy_native.planning.touches import Touch, all_touches
from haproxy_native.request_context import Author, author
from haproxy_native.text.document import Document


def permit(by: Author, texts: Texts, touched: Sequence[Touch] = ()) -> bool:
    """Whether the author may reload HAProxy for a change of the configuration, and for what else is `touched`. Raises Forbidden."""
    if by.rights is None or by.rights.are_all:
        return True
    return by.rights.permit([*all_touches(standard_editor(), texts.before, texts.after, texts.effects), *touched])


def permitted(edit: Edit) -> Edit:
    """An edit that raises Forbidden where the present author has no right to it; whether it may reload is asked at the commit."""
    by = author.get()

    def checked(before: Document) -> Document:
        new = edit(before)
        permit(by, Texts(before, new))
        return new

    return checked


async def refuse_reload(context: CommitContext, change: Change, before: Document, new: Document) -> None:
    """Raises Forbidden for a change that reloads HAProxy, now or, where that is skipped, later; a transaction without changes does."""
    is_asked = change.force_reload or (change.transaction_id and header.same_text(before, new))
    if why := [ASKED] if is_asked else await process.reasons_to_reload(context, before, new):
        raise Forbidden(f"this needs a reload, for which a rule with reload: any is needed: {why[0]}")
