"""Authorize a change: check the rights of its author, and let observers refuse it. The caller need not hold locks.

Evaluating a configuration has effects: HAProxy, its shadow and this server run its Lua code, read the files that it names, and resolve its
host names. So a preview needs the same permission as the commit, and the permission is checked before anything is evaluated:
`permit_evaluation` is called wherever a candidate that is not being committed reaches HAProxy.
"""

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haproxy_native.changes.file_operations import FileStore
from haproxy_native.commit import process
from haproxy_native.commit.change import Candidate, Change, Reload, Texts, Validation
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.process import RELOAD_REQUESTED
from haproxy_native.editing import header
from haproxy_native.editing.defaults_sections import refuse_rebound
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BreaksTests, Forbidden, Untested
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch, all_touches
from haproxy_native.request_context import Author, Permissions
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread

# In bytes. The contents of larger files are neither compared nor stored in the history.
LARGEST = 1 << 26


def permit(author: Author, texts: Texts, touched: Sequence[Touch] = ()) -> bool:
    """Authorize a change of the configuration and of other objects (`touched`). Raises Forbidden.

    Return whether the author may also reload HAProxy for the change.
    """
    if author.rights is None or author.rights.are_all:
        return True
    return author.rights.permit([*all_touches(texts.before, texts.after, texts.effects), *touched])


def apply_and_authorize(change: Change, before: Document, touched: Sequence[Touch] = ()) -> tuple[Texts, bool]:
    """Apply a change to `before`, and authorize it. Return (texts before and after, whether the author may reload HAProxy for it).

    `touched`: what the change does to stored files. Raises Forbidden and what the operations raise.
    """
    texts = Texts(before, change.apply(before))
    may_reload = permit(change.author, texts, touched)
    if change.validation is not Validation.NEVER:
        refuse_rebound(*texts)
    return texts, may_reload


async def permit_evaluation(context: CommitContext, candidate: Candidate) -> None:
    """Raise Forbidden unless the author of a candidate may commit it, with or without a reload. Call it before evaluating the candidate."""
    author = candidate.author
    if author.rights is None or author.rights.are_all:
        return

    def touches_of_files() -> list[Touch]:
        touched: list[Touch] = []
        for path, content in candidate.files.items():
            directory = os.path.abspath(path.parent)
            stores = [store for store in context.stores.values() if os.path.abspath(store.directory) == directory]
            if not stores:
                raise Forbidden(f"{path} is in no storage directory, so only role admin may have it evaluated")
            for store in stores:
                touched += touches_of_file(author.rights, store, path, content)
        return touched

    touched = await asyncio.to_thread(touches_of_files)
    await run_in_thread(permit, author, Texts(candidate.before, candidate.after), touched)


def touches_of_file(rights: Permissions | None, store: FileStore, path: Path, draft: Path | None) -> Sequence[Touch]:
    """Return what a change does to a file as a whole or, if the author has no right to that, to the objects in the file. Blocks.

    `draft`: the file with the new content; None deletes the file at `path`. Files larger than LARGEST are not compared, and are touched as
    a whole.
    """
    if draft and path.exists() and max(file.stat().st_size for file in (path, draft)) <= LARGEST:
        return touches_of(rights, store, path, path.read_bytes(), draft.read_bytes())
    return [touch(store.kind, path, is_there=path.exists(), stays=draft is not None)]


def touch(kind: str, path: Path, *, is_there: bool, stays: bool) -> Touch:
    """Return what a change does to a file as a whole.

    `is_there`: whether the file exists before the change. `stays`: whether it exists after the change.
    """
    verb = DELETE if not stays else CHANGE if is_there else CREATE
    return Touch(spelled(kind, path.name), verb, frozenset((ANY,)))


def touches_of(rights: Permissions | None, store: FileStore, path: Path, before: bytes | None, after: bytes | None) -> Sequence[Touch]:
    """Return what a change does to a file as a whole or, if the author has no right to that, to the objects in the file. Blocks."""
    whole = [touch(store.kind, path, is_there=before is not None, stays=after is not None)]
    if rights is None or before is None or after is None:
        return whole
    try:
        rights.permit(whole)
    except Forbidden:
        return store.touches(path, before, after) or whole
    return whole


def permit_file(author: Author, kind: str, path: Path, verb: str) -> None:
    """Raise Forbidden if the author may not do `verb` to a stored file. The file need not exist, and its content is not considered.

    A right to change some object in the file is enough here; the commit checks the content.
    """
    object_ = spelled(kind, path.name)
    if author.rights and not (verb == CHANGE and author.rights.may_change_within(object_)):
        author.permit(Touch(object_, verb, frozenset((ANY,))))


async def refuse_reload(context: CommitContext, change: Change, before: Document, new: Document) -> None:
    """Raise Forbidden if a change needs a reload, even if the reload would take place later.

    A transaction without changes needs a reload as well.
    """
    is_requested = change.reload is Reload.NOW or (change.transaction_id and header.same_text(before, new))
    if why := [RELOAD_REQUESTED] if is_requested else await process.reasons_to_reload(context, before, new):
        raise Forbidden(f"this needs a reload, for which a rule with reload: any is needed: {why[0]}")


@dataclass(frozen=True)
class GateVerdict:
    """The result of the required tests for a planned change."""

    # As in BreaksTests.
    failed: Sequence[Any] = ()
    failed_before: Sequence[str] = ()
    # Why the tests could not be run; empty if they were.
    untested: str = ""


async def verdict(context: CommitContext, candidate: Candidate) -> GateVerdict | None:
    """Run the required tests on a candidate and return their result; None if changes of this author are not tested."""
    if not context.judges(candidate.author):
        return None
    try:
        return GateVerdict(failed_before=await _failing_tests(context, candidate))
    except BreaksTests as error:
        return GateVerdict(error.failed, error.failed_before)
    except Untested as error:
        return GateVerdict(untested=str(error))


async def judge(context: CommitContext, candidate: Candidate) -> None:
    """Let observers judge a candidate. Raises what they raise.

    Observers continue even if another change is committed first. They cache their result by the parts of the configuration that matter to
    them, so the next attempt is judged immediately.
    """
    if context.judges(candidate.author):
        failing = await _failing_tests(context, candidate)
        if candidate.author.request:
            candidate.author.request.failing_tests = tuple(failing)


async def _failing_tests(context: CommitContext, candidate: Candidate) -> list[str]:
    return [name for observer in context.observers for name in await observer.judge(candidate)]
