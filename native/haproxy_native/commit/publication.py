"""A change that adds backends, seen only when they are healthy: they stand in the file and in the process at once, unpublished.

HAProxy's rules pass an unpublished backend over, and its checks are made. Where no server of a backend comes up in time, the inverse of
the change is committed.
"""

import asyncio
from collections.abc import Iterator, Sequence
from dataclasses import replace

from haproxy_native.beside import beside
from haproxy_native.commit.change import Change, Outcome
from haproxy_native.commit.commit import commit, to_the_end
from haproxy_native.commit.context import CommitContext
from haproxy_native.editing.editor import standard_editor
from haproxy_native.errors import BadRequest, Conflict, Unhealthy
from haproxy_native.planning.effects import effects, inverse, with_effects
from haproxy_native.planning.plan import only_in
from haproxy_native.planning.section_order import sections_of
from haproxy_native.request_context import author
from haproxy_native.runtime import backends, commands
from haproxy_native.runtime.backends import Health
from haproxy_native.text.document import Document
from haproxy_native.text.words import unquoted

POLL = 0.05


async def commit_when_healthy(context: CommitContext, change: Change, seconds: float | None) -> Outcome:
    """Commits at once, and returns when the new backends are published, without the lock in between. Waits at most `seconds`; None
    commits as usual.

    Raises what `commit` does, BadRequest where the change needs a reload, and Unhealthy with the change taken back and its
    transaction failed.
    """
    if seconds is None:
        return await commit(context, change)
    if change.force_reload or change.skip_reload:
        raise BadRequest("healthy_within is for changes without a reload: send neither force_reload nor skip_reload")
    return await to_the_end(context, _commit_when_healthy(context, change, seconds))


async def _commit_when_healthy(context: CommitContext, change: Change, seconds: float) -> Outcome:
    edited: list[tuple[Document, Document]] = []

    def remembering(before: Document) -> Document:
        new = change.edit(before)
        edited[:] = [(before, new)]
        return new

    outcome = await commit(context, replace(change, edit=remembering, gated=True))
    names = list(new_backends(*edited[0]))
    try:
        await _wait(context, names, seconds)
        await _publish(context, names)
    except Unhealthy as error:
        await _take_back(context, *edited[0], error)
        if change.transaction_id:
            await _fail(context, change.transaction_id, edited[0][1], outcome.former)
        raise
    except Conflict:
        context.running.is_published(names)
        raise
    return outcome


def new_backends(before: Document, new: Document) -> Iterator[str]:
    return (unquoted(section.name) for section in only_in(sections_of(new), sections_of(before)))


async def _wait(context: CommitContext, names: Sequence[str], seconds: float) -> None:
    """Raises Unhealthy with the first backend that has no server up at the end."""
    deadline = asyncio.get_running_loop().time() + seconds
    left = list(names)
    while left:
        seen = {name: await backends.health(context.runtime, name) for name in left}
        left = [name for name in left if not _is_healthy(name, seen[name])]
        if left and asyncio.get_running_loop().time() >= deadline:
            raise Unhealthy(_words(left[0], seen[left[0]], seconds))
        await asyncio.sleep(POLL if left else 0)


def _is_healthy(name: str, seen: Health | None) -> bool:
    """Raises Conflict for a backend that is gone."""
    if seen is None:
        raise _deleted(name)
    return seen.is_healthy


def _deleted(name: str) -> Conflict:
    return Conflict(f"backend {name} was deleted by another change before a server of it was up")


def _words(name: str, seen: Health | None, seconds: float) -> str:
    states = "; ".join(f"server {server}: {state}" for server, state in seen.servers.items()) if seen else ""
    return f"backend {name} has no server that is up after {seconds:g} s, and the change is taken back: {states}"


async def _take_back(context: CommitContext, before: Document, new: Document, why: Unhealthy) -> None:
    """Only this change, whatever was committed meanwhile. Where that has changed the same objects, the backends are published as the file
    has them, and Unhealthy is raised with that.
    """
    editor, names = standard_editor(), list(new_backends(before, new))
    undone = inverse(await beside(effects, editor, before, new))
    try:
        # Who has the right to a change has that to its way back.
        by = replace(author.get(), rights=None)
        await commit(context, Change(lambda now: with_effects(editor, now, undone), tested=False, author=by))
        context.running.is_published(names)
    except Conflict as conflict:
        await _publish(context, names)
        raise Unhealthy(f"{why.detail}; that could not be, and it is published as it is: {conflict.detail}") from conflict


async def _fail(context: CommitContext, transaction_id: str, document: Document, base: int) -> None:
    """Lists the transaction as failed, with its text, as one that HAProxy refused."""
    text = await beside(context.current.stamp, document, base, banner=context.current.banner)
    context.transactions.fail(transaction_id, text.data)


async def _publish(context: CommitContext, names: Sequence[str]) -> None:
    """A worker that was started meanwhile has published what it loaded, and takes the command all the same. Raises Conflict for a backend
    that is gone: while it is deleted it has no servers, and so none that is not up.
    """
    async with context.settled(), context.process_lock:
        if gone := next((name for name in names if context.current.document.find("backend", name) is None), None):
            raise _deleted(gone)
        await commands.apply(context.runtime, [backends.publish(name) for name in names])
        context.running.is_published(names)
