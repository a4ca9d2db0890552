"""What a commit would be refused for, and whether it would reload HAProxy, without making it and without asking HAProxy about a text."""

from collections.abc import Sequence

from haproxy_native.beside import beside
from haproxy_native.commit import decision, file_change, file_set, permission, process
from haproxy_native.commit.change import Change, ObjectChange, Outcome, Reload, Texts
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.file_change import FileChange
from haproxy_native.disk.aside import drafts_aside
from haproxy_native.editing.references import refuse_rebound
from haproxy_native.planning.touches import Touch
from haproxy_native.rehearsal import would_change
from haproxy_native.text.document import Document


async def rehearse(context: CommitContext, change: Change | FileChange | ObjectChange) -> Outcome:
    """Raises Rehearsed, and what the commit of it would be refused for; an outcome only where others follow."""
    reloads: bool | None = None
    match change:
        case Change():
            reloads = await _of_configuration(context, change)
        case FileChange():
            async with context.publishing_files():
                reloads = await file_change.rehearse_locked(context, change)
        case ObjectChange():
            if change.author.rights:
                change.author.rights.permit(change.touches)
    would_change(reloads)
    return Outcome(context.current.version)


async def _of_configuration(context: CommitContext, change: Change) -> bool:
    await context.current.notice_aside()
    change.expect.compare(context.current.version)
    before = context.current.document
    async with drafts_aside(), file_set.edited(context, change) as files:
        (_, new), may_reload = await beside(edited, change, before, files.touches)
        files.refuse_named(new)
        if files:
            async with context.publishing_files():
                plans = await files.planned()
            return any(plan.reasons and not plan.steps for plan in plans.values()) or await _needs_reload(context, change, before, new)
    is_live = await process.plan_without_check(context, change, before, new) is not None
    if not may_reload and not is_live:
        await permission.refuse_reload(context, change, before, new)
    return not (change.reload is Reload.NONE or is_live) and await _needs_reload(context, change, before, new)


async def _needs_reload(context: CommitContext, change: Change, before: Document, new: Document) -> bool:
    return change.reload is Reload.NOW or bool(await decision.reasons_to_reload(context, before, new, change.claimed))


def edited(change: Change, before: Document, touched: Sequence[Touch] = ()) -> tuple[Texts, bool]:
    """The document before and after, and whether its author may reload HAProxy for it. `touched`: files that change with it.

    Raises Forbidden and what the operations raise.
    """
    texts = Texts(before, change.apply(before))
    may_reload = permission.permit(change.author, texts, touched)
    if change.checked:
        refuse_rebound(*texts)
    return texts, may_reload
