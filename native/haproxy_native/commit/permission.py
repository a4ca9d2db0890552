"""Whether the author of a change has the right to what it does, and what observers ask of it, without the locks.

HAProxy, a shadow of it and this server run what a text or a file says: Lua, files that are read, names that are resolved. So whoever only
asks what a change would do needs the same permission as for its commit, and that is decided before anything is evaluated:
`permit_evaluation` is called wherever a candidate that is not being committed reaches HAProxy.
"""

import asyncio
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from haproxy_native.beside import beside
from haproxy_native.changes.file_operations import FileStore
from haproxy_native.commit import process
from haproxy_native.commit.change import Candidate, Change, Reload, Texts, Validation
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.publication import ASKED
from haproxy_native.editing import header
from haproxy_native.editing.defaults_sections import refuse_rebound
from haproxy_native.editing.editor import standard_editor
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import BreaksTests, Forbidden, Untested
from haproxy_native.planning.touches import ANY, CHANGE, CREATE, DELETE, Touch, all_touches
from haproxy_native.request_context import Author, Rights
from haproxy_native.text.document import Document

# Bytes of a file whose contents are compared and remembered.
LARGEST = 1 << 26


def permit(by: Author, texts: Texts, touched: Sequence[Touch] = ()) -> bool:
    """Whether the author may reload HAProxy for a change of the configuration, and for what else is `touched`. Raises Forbidden."""
    if by.rights is None or by.rights.are_all:
        return True
    return by.rights.permit([*all_touches(standard_editor(), texts.before, texts.after, texts.effects), *touched])


def edited(change: Change, before: Document, touched: Sequence[Touch] = ()) -> tuple[Texts, bool]:
    """The document before and after, and whether its author may reload HAProxy for it. `touched`: files that change with it.

    Raises Forbidden and what the operations raise.
    """
    texts = Texts(before, change.apply(before))
    may_reload = permit(change.author, texts, touched)
    if change.validation is not Validation.NEVER:
        refuse_rebound(*texts)
    return texts, may_reload


async def permit_evaluation(context: CommitContext, candidate: Candidate) -> None:
    """Permit evaluating a candidate. Raises Forbidden unless its author may commit it, with a reload or without."""
    by = candidate.author
    if by.rights is not None and not by.rights.are_all:
        touched = await asyncio.to_thread(lambda: [*_file_touches(context, by, candidate)])
        await beside(permit, by, Texts(candidate.before, candidate.after), touched)


def _file_touches(context: CommitContext, by: Author, candidate: Candidate) -> Iterator[Touch]:
    for path, content in candidate.files.items():
        if not (stores := [store for store in context.stores.values() if _holds(store, path)]):
            raise Forbidden(f"{path} is in no storage directory, so only role admin may have it evaluated")
        for store in stores:
            yield from touches_of_file(by.rights, store, path, content)


def touches_of_file(rights: Rights | None, store: FileStore, path: Path, coming: Path | None) -> Sequence[Touch]:
    """What a change does to a file that is to hold what `coming` holds, or is deleted without it; as `touches_of`. Blocks."""
    if coming and path.exists() and max(file.stat().st_size for file in (path, coming)) <= LARGEST:
        return touches_of(rights, store, path, path.read_bytes(), coming.read_bytes())
    return [touch(store.kind, path, is_there=path.exists(), stays=coming is not None)]


def touch(kind: str, path: Path, *, is_there: bool, stays: bool) -> Touch:
    """What a change does to a file as an object."""
    verb = DELETE if not stays else CHANGE if is_there else CREATE
    return Touch(spelled(kind, path.name), verb, frozenset((ANY,)))


def touches_of(rights: Rights | None, store: FileStore, path: Path, before: bytes | None, after: bytes | None) -> Sequence[Touch]:
    """What a change does to a file as a whole; to what stands in it, for an author who has no right to the whole. Blocks."""
    whole = [touch(store.kind, path, is_there=before is not None, stays=after is not None)]
    if rights is None or before is None or after is None:
        return whole
    try:
        rights.permit(whole)
    except Forbidden:
        return store.touches(path, before, after) or whole
    return whole


def _holds(store: FileStore, path: Path) -> bool:
    return os.path.abspath(store.directory) == os.path.abspath(path.parent)


def permit_file(by: Author, kind: str, path: Path, verb: str) -> None:
    """Raises Forbidden for what an author may not do to a stored file, whatever it holds and whether it is there or not.

    A change may be of something in the file alone, so that only its content decides.
    """
    object_ = spelled(kind, path.name)
    if by.rights and not (verb == CHANGE and by.rights.may_change_within(object_)):
        by.permit(Touch(object_, verb, frozenset((ANY,))))


async def refuse_reload(context: CommitContext, change: Change, before: Document, new: Document) -> None:
    """Raises Forbidden for a change that reloads HAProxy, now or, where that is skipped, later; a transaction without changes does."""
    is_asked = change.reload is Reload.NOW or (change.transaction_id and header.same_text(before, new))
    if why := [ASKED] if is_asked else await process.reasons_to_reload(context, before, new):
        raise Forbidden(f"this needs a reload, for which a rule with reload: any is needed: {why[0]}")


@dataclass(frozen=True)
class GateVerdict:
    """What the gate says of a plan: `failed` and `failed_before` as in BreaksTests; `untested`: why that is not known."""

    failed: Sequence[Any] = ()
    failed_before: Sequence[str] = ()
    untested: str = ""


async def verdict(context: CommitContext, candidate: Candidate) -> GateVerdict | None:
    """Returns the gate's verdict; None if it does not judge changes of this author."""
    if not context.observers.judges(candidate.author):
        return None
    try:
        return GateVerdict(failed_before=await context.observers.judge(candidate))
    except BreaksTests as error:
        return GateVerdict(error.failed, error.failed_before)
    except Untested as error:
        return GateVerdict(untested=str(error))


async def pass_change(context: CommitContext, candidate: Candidate) -> None:
    """Raises what the gate does.

    It is asked to the end even where another change comes first: of what it has let pass it remembers what matters, so that changes which
    change nothing of that do not hold this one up.
    """
    if context.observers.judges(candidate.author):
        wrong = await context.observers.judge(candidate)
        if candidate.author.request:
            candidate.author.request.failing_tests = tuple(wrong)
