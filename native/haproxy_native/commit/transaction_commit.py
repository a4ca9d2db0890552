"""Commit a transaction, or preview its commit, even if other changes were committed since it started.

A transaction is the document that it started from and the operations made in it, so its commit is one `Change`. If the configuration has
changed since, that is a conflict and the transaction becomes outdated, unless the client merges: then the change is rebased.
"""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from haproxy_native.changes.expect import ANY, Rebase, Version
from haproxy_native.changes.file_operations import Contents, EditFiles, FileStore
from haproxy_native.commit.change import Change, Operation, Outcome, Reload, Texts
from haproxy_native.commit.commit import commit
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.preview import Preview, preview, preview_of_former
from haproxy_native.editing.header import same_text
from haproxy_native.errors import (
    Conflict,
    Missing,
    NotCommittable,
    NoTransaction,
    Outdated,
    TextNotStored,
    Unconfirmed,
    Unreadable,
)
from haproxy_native.planning.effects import effects
from haproxy_native.request_context import Author
from haproxy_native.threads import run_in_thread
from haproxy_native.transactions.staged import Staged, digest
from haproxy_native.transactions.store import FAILED, IN_PROGRESS, OUTDATED, Transaction


async def commit_transaction(
    context: CommitContext, id_: str, author: Author, *, force_reload: bool, merges: bool
) -> tuple[Transaction, Outcome]:
    """Commit a transaction. Return the transaction, with the version that it started from, and the outcome.

    A transaction without changes reloads HAProxy. Raises what `commit_of` and a commit raise.
    """
    transaction = context.transactions.to_commit(id_, author)
    if transaction.closed:
        raise NoTransaction(f"transaction {transaction.id} does not exist")
    transaction.closed = True
    try:
        outcome = await commit(context, await commit_of(context, id_, author, force_reload=force_reload, merges=merges))
        await context.transactions.written()
        return transaction, outcome
    except Unconfirmed:
        # The transaction can be committed once the waiting change is confirmed.
        raise
    except Conflict:
        if transaction.status == IN_PROGRESS:
            context.transactions.outdate(transaction.id)
        raise
    finally:
        transaction.closed = False


async def commit_of(context: CommitContext, id_: str, author: Author, *, force_reload: bool, merges: bool) -> Change:
    """Return the change that commits a transaction. Raises NoTransaction, Forbidden, NotCommittable and Missing.

    With `merges`, the transaction is rebased onto the changes that were made since it started; raises TextNotStored if its base is not
    stored. Without `merges`, raises Outdated for an outdated transaction.
    """
    transaction = context.transactions.to_commit(id_, author)
    refusal = f"transaction {id_} is {transaction.status} and cannot be committed"
    if transaction.status == FAILED:
        raise NotCommittable(refusal)
    if transaction.status == OUTDATED and not merges:
        raise Outdated(refusal, transaction=id_)
    change = await change_of(context, id_, author, merges=merges)
    reload = Reload.NOW if force_reload else Reload.AUTO
    return replace(change, expect=replace(change.expect, transaction=id_), reload=reload)


def is_overtaken(context: CommitContext, id_: str) -> bool:
    """Return whether a transaction is outdated, or would become outdated at its commit. Raises NoTransaction."""
    status, (base, _) = context.transactions.get(id_).status, context.transactions.sides(id_)
    is_other = base is not None and not same_text(base, context.current.document)
    return status == OUTDATED or (status == IN_PROGRESS and is_other)


async def change_of(context: CommitContext, id_: str, author: Author, *, merges: bool = False) -> Change:
    """Return the change of a transaction of any status. The change expects the version that the transaction started from.

    With `merges`, the change is rebased onto the current version instead. Raises NoTransaction, Missing, and TextNotStored if rebasing
    needs a text that is no longer stored.
    """
    base, document = await run_in_thread(context.transactions.sides, id_)
    if merges and base is None:
        raise TextNotStored(f"the text that transaction {id_} started from is no longer stored, so it cannot be merged")
    transaction, expect = context.transactions.get(id_), Rebase if merges else Version
    files = edits_of(context.transactions.staged(id_), context.stores)
    return Change([*transaction.operations, *files], expect(transaction.version, base, document), author=author)


async def preview_of(context: CommitContext, id_: str, author: Author, more: Sequence[Operation] = ()) -> Preview:
    """Preview the commit of a transaction to which the operations in `more` are added. An overtaken transaction is previewed as merged.

    If the transaction collides with other changes, return its preview on the configuration that it started from, with the conflict.
    """
    is_merged = await run_in_thread(is_overtaken, context, id_)
    change = await change_of(context, id_, author, merges=is_merged)
    # It is not known what a refused text started from, so it is compared with the current text.
    expect = ANY if isinstance(change.expect, Version) and change.expect.base is None else change.expect
    try:
        return await preview(context, replace(change, operations=[*change.operations, *more], expect=expect))
    except Conflict as error:
        if not is_merged:
            raise
        base, document = await run_in_thread(context.transactions.sides, id_)
        return await preview_of_former(context, author, Texts(base or document, document), error)


async def objects_of(context: CommitContext, id_: str) -> list[str] | None:
    """Return the names of the objects that a transaction changes; None if its base configuration is unknown. Raises NoTransaction."""
    base, document = await run_in_thread(context.transactions.sides, id_)
    if base is None:
        return None
    changed = await run_in_thread(effects, base, document)
    files = context.transactions.staged(id_).files.values()
    return list(dict.fromkeys([*(effect.object for effect in changed), *(file.object for file in files)]))


def edits_of(staged: Staged, stores: Mapping[str, FileStore]) -> list[EditFiles]:
    """Return the operations on stored files that commit the staged files. Raises Missing for a store that no longer exists.

    When the commit applies them, they raise Conflict for a file that was changed since it was staged, and Unreadable.
    """

    def staged_contents(current: Contents) -> Contents:
        staged_files: dict[Path, bytes | None] = {}
        for path in staged.files:
            copy = staged.content(path)
            try:
                staged_files[path] = copy.read_bytes() if copy else None
            except OSError as error:
                raise Unreadable(f"Cannot read {copy}: {error.strerror}") from error
        for path, file in staged.files.items():
            if current[path] != staged_files[path] and digest(current[path]) != file.before:
                raise Conflict(f"{path} was also changed by a later commit, and {file.object} is changed here; nothing was changed")
        return staged_files

    if not (files := dict(staged.files)):
        return []
    if gone := next((file.store for file in files.values() if file.store not in stores), None):
        raise Missing(f"the transaction changes files of {gone}, whose directory the settings no longer name")
    return [EditFiles({path: stores[file.store] for path, file in files.items()}, staged_contents)]
