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
from haproxy_native.storage.key_material import is_secret
from haproxy_native.storage.store import Store
from haproxy_native.storage.stores import Stores
from haproxy_native.text.document import Document
from haproxy_native.text.line_diff import Collision, Lines, merged
from haproxy_native.text.pieces import decoded, encoded, split_lines
from haproxy_native.threads import run_in_thread

REVERT, RESTORE, SPOE, TEST = "revert", "restore", "spoe", "test"
# Returns the wanted content of a file, given the current one; None for no file.
Wanted = Callable[[bytes | None], bytes | None]
# (the operation on the configuration, or None, and the wanted contents of other files).
_Changes = tuple[Edit | None, Mapping[Content, Wanted]]


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
        return patches.sharing(header.with_header_and_banner_of(self.document, document), document)


class OtherFiles(Protocol):
    """A kind of objects whose commits are separate from the configuration: SPOE files or routing tests. They are addressed by name."""

    async def change(self, name: str, wanted: Wanted, author: Author) -> Outcome: ...


@dataclass(frozen=True)
class Reverter:
    """Reverts entries of the history, and restores the state after an entry."""

    history: History
    engine: Engine
    # By the kind of their objects.
    others: dict[str, OtherFiles]

    def add_kind(self, kind: str, files: OtherFiles, content: Callable[[str], bytes | None]) -> None:
        """Add a kind of objects. `content` returns the stored content of an object by its name; None if it does not exist."""
        self.others[kind], self.history.others[kind] = files, content

    async def revert(self, id_: int, author: Author) -> Reverted:
        """Revert the change of one entry.

        Raises NotFound, NotRevertible if the entry changed the process alone, Diverged, with both values, if the same members or lines were
        changed later, and the errors of a commit.
        """
        return await self._return(await self._revert(id_), replace(author, cause=f"{REVERT}/{id_}"))

    async def check_revert(self, id_: int, author: Author) -> bool:
        """Return whether `revert` would reload HAProxy. Raises the errors of `revert` that come before HAProxy's check of the file."""

        return await self._check(await self._revert(id_), author)

    async def _revert(self, id_: int) -> _Changes:
        """Return the changes that revert an entry. Raises NotFound, NotRevertible and Diverged."""
        entry = await self.history.ask(Journal.get, id_)
        if entry.kind == RUNTIME:
            objects = await self.history.ask(Journal.objects, id_)
            raise NotRevertible(f"entry {id_} changed {', '.join(objects)} in the running process alone and cannot be reverted")
        contents = [_plain(content) for content in await self.history.ask(Journal.contents, id_)]
        main = next((content for content in contents if not content.object), None)
        files = [
            content for content in contents if content.object and _content_without(content, now := await self._current(content)) != now
        ]
        undo = Undo(*await run_in_thread(lambda: [Document.parse(data or b"") for data in (main.before, main.after)])) if main else None
        return await self._if_it_changes(undo), {file: partial(_content_without, file) for file in files}

    async def _if_it_changes(self, operation: Edit | None) -> Edit | None:
        """Return the operation, or None if it would not change the configuration. Raises the errors of the operation."""
        document = self.engine.document
        return operation if operation and not header.same_text(await run_in_thread(operation.apply, document), document) else None

    async def roll_back(self, id_: int, author: Author) -> Reverted:
        """Revert an entry of a confirmation, even if it changed servers in the process alone. Raises the errors of `revert`."""
        if (await self.history.ask(Journal.get, id_)).kind != RUNTIME:
            return await self._return(await self._revert(id_), author)
        members = await self.history.ask(Journal.members, id_)
        outcome = await revert_servers(self.engine.context, members, author) if members else None
        return Reverted([outcome] if outcome else [])

    async def restore(self, id_: int, author: Author) -> Reverted:
        """Restore the configuration and all files to the state after an entry. Raises NotFound, and the errors of a commit.

        SPOE files are written before the configuration, and deleted after it. Routing tests are restored before the configuration, because
        it may have to pass the tests of that state. If the configuration is refused, the files written before it are restored.
        """
        return await self._return(await self._restore(id_), replace(author, cause=f"{RESTORE}/{id_}"))

    async def check_restore(self, id_: int, author: Author) -> bool:
        """Return whether `restore` would reload HAProxy. Raises the errors of `restore` that come before HAProxy's check of the file."""
        return await self._check(await self._restore(id_), author)

    async def _restore(self, id_: int) -> _Changes:
        """Return the changes that restore the state after an entry. Raises NotFound and Diverged."""
        await self.history.ask(Journal.get, id_)
        path = str(self.engine.context.current.path)
        moment = {path: await self.history.ask(Journal.at, id_, path) for path in await self.history.ask(Journal.paths)}
        main = moment.pop(path, None)
        files = [_plain(content) for content in moment.values() if content]
        differing = [file for file in files if await self._current(file) != file.after]
        if lost := next((content for content in differing if not content.is_kept), None):
            raise Diverged(f"{lost.path} was too large to be stored, so entry {id_} cannot be restored")
        put = Restore(await run_in_thread(Document.parse, main.after)) if main is not None and main.after is not None else None
        return await self._if_it_changes(put), {content: partial(_as_it_was, content) for content in differing}

    async def _check(self, changes: _Changes, author: Author) -> bool:
        """Return whether changes would reload HAProxy. Raises Forbidden, and the errors of the operation."""
        operation, wanted = changes
        for content in wanted:
            if _kind(content) in self.others:
                is_there, stays = await self._current(content) is not None, content.after is not None
                author.permit(touch(_kind(content), Path(content.path), is_there=is_there, stays=stays))
        change = _change_of(
            self.engine.stores, author, operation, {path: change for path, change in wanted.items() if _kind(path) not in self.others}
        )
        return await self.engine.check_change(change) if change else False

    async def _return(self, changes: _Changes, author: Author) -> Reverted:
        """Commit the configuration and stored files together, and the files of other kinds before or after that."""
        operation, wanted = changes
        others = [path for path in wanted if _kind(path) in self.others]
        first = [content for content in others if content.after is not None or _kind(content) == TEST]
        former = {path: await self._current(path) for path in first}
        outcomes = [await self._change(path, wanted[path], author) for path in first]
        try:
            if made := _change_of(
                self.engine.stores, author, operation, {path: change for path, change in wanted.items() if path not in others}
            ):
                outcomes.append(await commit(self.engine.context, made))
        except Exception:
            for path in first:
                await self._change(path, partial(_as_it_was, replace(path, after=former[path])), replace(author, rights=None))
            raise
        return Reverted([*outcomes, *[await self._change(other, wanted[other], author) for other in others if other not in first]])

    async def _change(self, content: Content, wanted: Wanted, author: Author) -> Outcome:
        return await self.others[_kind(content)].change(Path(content.path).name, wanted, author)

    async def _current(self, content: Content) -> bytes | None:
        """Return the current content of a file, in the form of `_plain`."""
        return _plain(replace(content, after=await self.history.current(content.path))).after


async def revert_outcome(engine: Engine, outcome: Outcome, author: Author) -> Outcome:
    """Revert a change, given the outcome that its commit returned, and keep later changes.

    Raises NotRevertible if the change was of the process alone and changed anything but servers, Conflict if the same values have been
    changed since, and the errors of a commit.
    """
    if not outcome.lasting:
        if other := next((member.object for member in outcome.members if parsed(member.object)[0] != "backend"), None):
            raise NotRevertible(f"{other} was changed in the running process alone, and cannot be reverted")
        return await revert_servers(engine.context, outcome.members, author) or await unchanged(engine.context)
    undo = Undo(*outcome.texts) if outcome.texts else None
    change = _change_of(engine.stores, author, undo, {content: partial(_content_without, content) for content in outcome.contents})
    return await commit(engine.context, replace(change, skips_same=True)) if change else await unchanged(engine.context)


def _change_of(stores: Stores, author: Author, operation: Edit | None, stored: Mapping[Content, Wanted]) -> Change | None:
    """Return the change of the configuration and of stored files; None if neither changes."""
    if not (operation or stored):
        return None
    # A change of files alone skips validation, so that it can be reverted even if HAProxy's check cannot run.

    validation = Validation.IF_NEEDED if operation else Validation.NEVER
    operations: list[Operation] = [*([operation] if operation else []), *([_edits(stores, stored)] if stored else [])]
    return Change(operations, validation=validation, author=author)


def _edits(stores: Stores, wanted: Mapping[Content, Wanted]) -> EditFiles:
    def edit(now: Contents) -> Contents:
        return {Path(path.path): change(now[Path(path.path)]) for path, change in wanted.items()}

    # Unchecked, since the store of certificates would refuse a file with only a key.
    return EditFiles({Path(path.path): _store(stores, path) for path in wanted}, edit, is_checked=False)


def _store(stores: Stores, content: Content) -> Store:
    for store in stores.values():
        if store.kind == _kind(content):
            return store
    raise NotFound(f"{content.path} is not in a directory of stored files")


def _content_without(content: Content, now: bytes | None) -> bytes | None:
    if not content.is_kept:
        raise Diverged(f"{content.path} was too large to be stored")
    is_key = any(is_secret(data) for data in (now, content.before, content.after) if data)
    return reverted_content(content.path, now, content.before, content.after, is_shown=not is_key)


def reverted_content(name: str, now: bytes | None, before: bytes | None, after: bytes | None, *, is_shown: bool = True) -> bytes | None:
    """Return the content of a file with one change undone; None for no file.

    Raises Diverged, with the lines if `is_shown`, if later changes have changed the same lines.
    """
    if now in (before, after):
        return before
    if now is None or before is None or after is None:
        raise Diverged(f"{name} has been {'deleted' if now is None else 'changed'} since")
    try:
        return encoded("".join(merged(*(split_lines(decoded(text)) for text in (after, now, before)))))
    except Collision as collision:
        raise Diverged(f"{name} has been changed since" + (f"; {_lines(collision)}" if is_shown else "")) from None


def _lines(collision: Collision) -> str:
    mine, theirs = (_quoted([masked_lines(line.strip()) for line in lines]) for lines in (collision.mine, collision.theirs))
    return f"now: {mine}; before the change: {theirs}"


def _quoted(lines: Lines) -> str:
    text = " | ".join(lines[:3]) + (" | ..." if len(lines) > 3 else "")
    return f"'{text[:200]}'" if lines else "nothing"


def _as_it_was(content: Content, now: bytes | None) -> bytes | None:
    return content.after


def _kind(content: Content) -> str:
    return content.object.partition("/")[0]


def _plain(content: Content) -> Content:
    """Return the content, for a SPOE file without its version line, which each change increments."""
    if _kind(content) != SPOE:
        return content
    before, after = (data and header.without_versions(data) for data in (content.before, content.after))
    return replace(content, before=before, after=after)
