"""Revert an entry of the history and keep later changes, or restore everything to the state after an entry.

Both are changes like any other, with one commit for the configuration and stored files. SPOE files and routing tests have their own
commits, before or after the commit of the configuration. If that commit is refused, the commits before it are undone. `revert_outcome`
reverts a change without the history.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import ClassVar, Protocol

from haproxy_native.changes.file_operations import Contents, EditFiles
from haproxy_native.changes.operations import Edit
from haproxy_native.changes.rebasing import revert_change
from haproxy_native.commit.change import Change, Content, Operation, Outcome, Validation
from haproxy_native.commit.commit import commit, unchanged
from haproxy_native.commit.permission import touch
from haproxy_native.commit.servers_in_process import revert_servers
from haproxy_native.editing import header, patches
from haproxy_native.editing.object_names import parsed
from haproxy_native.editing.secrets import masked_lines
from haproxy_native.engine import Engine
from haproxy_native.errors import Diverged, NotFound, NotRevertible
from haproxy_native.history.entries import RUNTIME
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.request_context import Author
from haproxy_native.storage.secret_files import is_secret
from haproxy_native.storage.stores import Stores
from haproxy_native.text.document import Document
from haproxy_native.text.line_diff import Collision, Lines, merged
from haproxy_native.text.pieces import decoded, encoded, split_lines
from haproxy_native.threads import run_in_thread

REVERT, RESTORE, SPOE, TEST = "revert", "restore", "spoe", "test"
# Returns the new content of a file, given its current content; None for no file.
ContentEdit = Callable[[bytes | None], bytes | None]
# (the operation on the configuration, or None; the edits of other files).
_Changes = tuple[Edit | None, Mapping[Content, ContentEdit]]


@dataclass(frozen=True)
class Reverted:
    """The outcomes of the commits of a revert; none if there was nothing to change."""

    outcomes: Sequence[Outcome]

    @property
    def reload_id(self) -> str | None:
        """Return the id of the last reload that the commits need, or None."""
        return next((outcome.reload_id for outcome in reversed(self.outcomes) if outcome.reload_id), None)


@dataclass(frozen=True)
class Undo:
    """The operation that reverts one change of the configuration and keeps later changes."""

    before: Document
    after: Document
    is_whole: ClassVar[bool] = True

    def apply(self, document: Document) -> Document:
        """Return the configuration without the change. Raises Diverged."""
        return revert_change(document, self.before, self.after)


@dataclass(frozen=True)
class Restore:
    """The operation that restores a former text of the configuration, with the current header."""

    document: Document
    is_whole: ClassVar[bool] = True

    def apply(self, document: Document) -> Document:
        """Return the former configuration."""
        return patches.with_shared_sections(header.with_header_and_banner_of(self.document, document), document)


class OtherFiles(Protocol):
    """The objects of a kind whose commits are separate from the configuration: SPOE files or routing tests."""

    async def change(self, name: str, edit: ContentEdit, author: Author) -> Outcome:
        """Call `edit` with the content of the object with this name, and commit the content that `edit` returns."""


@dataclass(frozen=True)
class Reverter:
    """Reverts entries of the history, and restores the state after an entry."""

    history: History
    engine: Engine
    # The objects with separate commits, by kind.
    other_files: dict[str, OtherFiles]

    def add_kind(self, kind: str, files: OtherFiles, content: Callable[[str], bytes | None]) -> None:
        """Add a kind of objects. `content` returns the stored content of the object with a name; None if there is no such object."""
        self.other_files[kind], self.history.content_readers[kind] = files, content

    async def revert(self, id_: int, author: Author) -> Reverted:
        """Revert the change of one entry. Raises NotFound, and the errors of a commit.

        Also raises NotRevertible if the entry changed the process alone, and Diverged if the same members or lines were changed later.
        """
        return await self._commit(await self._plan_revert(id_), replace(author, cause=f"{REVERT}/{id_}"))

    async def check_revert(self, id_: int, author: Author) -> bool:
        """Return whether `revert` would reload HAProxy. Raises the errors of `revert` that come before HAProxy's check of the file."""
        return await self._would_reload(await self._plan_revert(id_), author)

    async def _plan_revert(self, id_: int) -> _Changes:
        """Return the changes that revert an entry. Raises NotFound, NotRevertible and Diverged."""
        entry = await self.history.ask(Journal.get, id_)
        if entry.kind == RUNTIME:
            objects = await self.history.ask(Journal.objects, id_)
            raise NotRevertible(f"entry {id_} changed {', '.join(objects)} in the running process alone and cannot be reverted")
        contents = [_without_version_line(content) for content in await self.history.ask(Journal.contents, id_)]
        edits: dict[Content, ContentEdit] = {}
        for content in contents:
            if content.object and _revert_content(content, current := await self._read_current(content)) != current:
                edits[content] = partial(_revert_content, content)
        main = next((content for content in contents if not content.object), None)
        undo = Undo(*await run_in_thread(lambda: [Document.parse(data or b"") for data in (main.before, main.after)])) if main else None
        return await self._drop_if_unchanged(undo), edits

    async def _drop_if_unchanged(self, operation: Edit | None) -> Edit | None:
        """Return the operation; None if it would not change the configuration. Raises the errors of the operation."""
        document = self.engine.document
        return operation if operation and not header.same_text(await run_in_thread(operation.apply, document), document) else None

    async def roll_back(self, id_: int, author: Author) -> Reverted:
        """Revert an entry of a confirmation, also one that changed servers in the process alone. Raises the errors of `revert`."""
        if (await self.history.ask(Journal.get, id_)).kind != RUNTIME:
            return await self._commit(await self._plan_revert(id_), author)
        members = await self.history.ask(Journal.members, id_)
        outcome = await revert_servers(self.engine.context, members, author) if members else None
        return Reverted([outcome] if outcome else [])

    async def restore(self, id_: int, author: Author) -> Reverted:
        """Restore the configuration and all files to the state after an entry. Raises NotFound, and the errors of a commit.

        SPOE files are written before the configuration, and deleted after it. Routing tests are restored before the configuration, because
        the configuration may have to pass them. If the configuration is refused, the files that were written before it get their former
        contents.
        """
        return await self._commit(await self._plan_restore(id_), replace(author, cause=f"{RESTORE}/{id_}"))

    async def check_restore(self, id_: int, author: Author) -> bool:
        """Return whether `restore` would reload HAProxy. Raises the errors of `restore` that come before HAProxy's check of the file."""
        return await self._would_reload(await self._plan_restore(id_), author)

    async def _plan_restore(self, id_: int) -> _Changes:
        """Return the changes that restore the state after an entry. Raises NotFound and Diverged."""
        await self.history.ask(Journal.get, id_)
        path = str(self.engine.context.current.path)
        contents = {path: await self.history.ask(Journal.at, id_, path) for path in await self.history.ask(Journal.paths)}
        main = contents.pop(path, None)
        files = [_without_version_line(content) for content in contents.values() if content]
        differing = [file for file in files if await self._read_current(file) != file.after]
        if lost := next((content for content in differing if not content.is_kept), None):
            raise Diverged(f"{lost.path} was too large to be stored, so entry {id_} cannot be restored")
        put = Restore(await run_in_thread(Document.parse, main.after)) if main is not None and main.after is not None else None
        return await self._drop_if_unchanged(put), {content: partial(_content_after, content) for content in differing}

    async def _would_reload(self, changes: _Changes, author: Author) -> bool:
        """Return whether changes would reload HAProxy. Raises Forbidden, and the errors of the operation."""
        operation, edits = changes
        for content in edits:
            if _kind(content) in self.other_files:
                is_there, stays = await self._read_current(content) is not None, content.after is not None
                author.permit(touch(_kind(content), Path(content.path), is_there=is_there, stays=stays))
        stored = {content: edit for content, edit in edits.items() if _kind(content) not in self.other_files}
        change = _change_of(self.engine.stores, author, operation, stored)
        return await self.engine.check_change(change) if change else False

    async def _commit(self, changes: _Changes, author: Author) -> Reverted:
        """Commit the configuration and stored files together. Files with separate commits are changed before or after that."""
        operation, edits = changes
        stored = {content: edit for content, edit in edits.items() if _kind(content) not in self.other_files}
        others = [content for content in edits if content not in stored]
        first = [content for content in others if content.after is not None or _kind(content) == TEST]
        former = {content: await self._read_current(content) for content in first}
        outcomes = [await self._change_other_file(content, edits[content], author) for content in first]
        try:
            if change := _change_of(self.engine.stores, author, operation, stored):
                outcomes.append(await commit(self.engine.context, change))
        except Exception:
            for content in first:
                restore = partial(_content_after, replace(content, after=former[content]))
                await self._change_other_file(content, restore, replace(author, rights=None))
            raise
        for content in others:
            if content not in first:
                outcomes.append(await self._change_other_file(content, edits[content], author))
        return Reverted(outcomes)

    async def _change_other_file(self, content: Content, edit: ContentEdit, author: Author) -> Outcome:
        return await self.other_files[_kind(content)].change(Path(content.path).name, edit, author)

    async def _read_current(self, content: Content) -> bytes | None:
        """Return the current content of a file; of a SPOE file, without its version line."""
        return _without_version_line(replace(content, after=await self.history.current(content.path))).after


async def revert_outcome(engine: Engine, outcome: Outcome, author: Author) -> Outcome:
    """Revert a change and keep later changes. `outcome`: what the commit of the change returned. Raises the errors of a commit.

    Also raises NotRevertible if the change was one of the process alone and not only of servers, and Conflict if a later change has set the
    same values.
    """
    if not outcome.lasting:
        if other := next((member.object for member in outcome.members if parsed(member.object)[0] != "backend"), None):
            raise NotRevertible(f"{other} was changed in the running process alone, and cannot be reverted")
        return await revert_servers(engine.context, outcome.members, author) or await unchanged(engine.context)
    undo = Undo(*outcome.texts) if outcome.texts else None
    change = _change_of(engine.stores, author, undo, {content: partial(_revert_content, content) for content in outcome.contents})
    return await commit(engine.context, replace(change, skips_same=True)) if change else await unchanged(engine.context)


def _change_of(stores: Stores, author: Author, operation: Edit | None, edits: Mapping[Content, ContentEdit]) -> Change | None:
    """Return the change of the configuration and of stored files; None if neither changes. Raises NotFound for a file of no store."""
    operations = list[Operation]()
    if operation:
        operations.append(operation)
    if edits:
        by_kind = {store.kind: store for store in reversed(stores.values())}
        for content in edits:
            if _kind(content) not in by_kind:
                raise NotFound(f"{content.path} is not in a directory of stored files")

        def edit(before: Contents) -> Contents:
            return {Path(content.path): edit_(before[Path(content.path)]) for content, edit_ in edits.items()}

        # Unchecked, since the store of certificates would refuse a file with only a key.
        operations.append(EditFiles({Path(content.path): by_kind[_kind(content)] for content in edits}, edit, is_checked=False))
    # A change of files alone skips validation, so that it can be reverted even if HAProxy's check cannot run.
    validation = Validation.IF_NEEDED if operation else Validation.NEVER
    return Change(operations, validation=validation, author=author) if operations else None


def _revert_content(content: Content, current: bytes | None) -> bytes | None:
    """Return the current content of a file without the change that `content` describes. Raises Diverged."""
    if not content.is_kept:
        raise Diverged(f"{content.path} was too large to be stored")
    is_key = any(is_secret(data) for data in (current, content.before, content.after) if data)
    return reverted_content(content.path, current, content.before, content.after, is_shown=not is_key)


def reverted_content(name: str, now: bytes | None, before: bytes | None, after: bytes | None, *, is_shown: bool = True) -> bytes | None:
    """Return the content of a file with one change undone; None for no file.

    Raises Diverged if later changes have changed the same lines. With `is_shown`, the error quotes the lines.
    """
    if now in (before, after):
        return before
    if now is None or before is None or after is None:
        raise Diverged(f"{name} has been {'deleted' if now is None else 'changed'} since")
    try:
        return encoded("".join(merged(*(split_lines(decoded(text)) for text in (after, now, before)))))
    except Collision as collision:
        if not is_shown:
            raise Diverged(f"{name} has been changed since") from None
        mine, theirs = _quote(collision.mine), _quote(collision.theirs)
        raise Diverged(f"{name} has been changed since; now: {mine}; before the change: {theirs}") from None


def _quote(lines: Lines) -> str:
    """Return the first three lines in quotes, with secrets masked."""
    text = " | ".join(masked_lines(line.strip()) for line in lines[:3]) + (" | ..." if len(lines) > 3 else "")
    return f"'{text[:200]}'" if lines else "nothing"


def _content_after(content: Content, current: bytes | None) -> bytes | None:
    return content.after


def _kind(content: Content) -> str:
    return content.object.partition("/")[0]


def _without_version_line(content: Content) -> Content:
    """Return the content; for a SPOE file, without its version line, which each change increments."""
    if _kind(content) != SPOE:
        return content
    before, after = (data and header.without_versions(data) for data in (content.before, content.after))
    return replace(content, before=before, after=after)
