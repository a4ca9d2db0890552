"""Takes changes back: one of them among later ones, or all since a moment. Each is a commit like any other, with its reasons to reload."""

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, Protocol

from haproxy_native.beside import beside
from haproxy_native.commit.change import Change, Content, Edit, Member, Outcome
from haproxy_native.commit.commit import commit
from haproxy_native.commit.file_change import FileChange
from haproxy_native.editing import header, patches
from haproxy_native.editing.editor import Editor
from haproxy_native.editing.secrets import BLANK, Mask
from haproxy_native.engine import Engine
from haproxy_native.errors import Conflict, NotFound, Unusable
from haproxy_native.history.entries import CONFIGURATION, RUNTIME, Entry
from haproxy_native.history.history import History
from haproxy_native.history.journal import Journal
from haproxy_native.planning.merging import content_without, without
from haproxy_native.rehearsal import several
from haproxy_native.request_context import author
from haproxy_native.storage.key_material import is_secret
from haproxy_native.storage.store import Store
from haproxy_native.text.document import Document

REVERT, RESTORE, SPOE = "revert", "restore", "spoe"
# From what a file holds to what it is to hold; None is no file.
Wanted = Callable[[bytes | None], bytes | None]


@dataclass(frozen=True)
class Returned:
    """The outcomes of the commits that took something back; none where everything was as it should be."""

    outcomes: Sequence[Outcome]

    @property
    def reload_id(self) -> str | None:
        """That of the last reload which is needed."""
        return next((each.reload_id for each in reversed(self.outcomes) if each.reload_id), None)


class SpoeTexts(Protocol):
    """The SPOE files (native/haproxy_native/spoe/directory.py)."""

    async def change(self, name: str, wanted: Wanted) -> Outcome: ...


@dataclass(frozen=True)
class Returning:
    """`take_back` sets members of a server in the process to what they were; it returns None where they are so already."""

    history: History
    engine: Engine
    editor: Editor
    spoe: SpoeTexts
    take_back: Callable[[Sequence[Member]], Awaitable[Outcome | None]]

    async def revert(self, id_: int, cause: str = "") -> Returned:
        """Takes back what one entry did, and nothing else. Raises NotFound, Conflict with both sides, and what a commit raises."""
        entry, mask = await self.history.ask(Journal.get, id_), await self._mask()
        with _as(cause=cause or f"{REVERT}/{id_}"):
            if entry.kind == RUNTIME:
                return await self._revert_process(entry)
            contents = [_plain(each) for each in await self.history.ask(Journal.contents, id_)]
            if entry.kind == CONFIGURATION:
                before, after = await asyncio.to_thread(lambda: [_document(each) for each in (contents[0].before, contents[0].after)])
                edit = partial(without, self.editor, before=before, after=after, mask=mask)
                if header.same_text(await beside(edit, self.engine.document), self.engine.document):
                    return Returned([])
                return Returned([await self._commit(edit)])
            differing = [each for each in contents if _content_without(each, mask, now := await _current(each)) != now]
            with several():
                return Returned([await self._return_file(each, partial(_content_without, each, mask)) for each in differing])

    async def _mask(self) -> Mask:
        """A disk that keeps no key of fingerprints keeps nothing from going back."""
        try:
            return await self.history.mask()
        except Unusable:
            return BLANK

    async def _revert_process(self, entry: Entry) -> Returned:
        if not (members := await self.history.ask(Journal.members, entry.id)):
            raise Conflict(f"of entry {entry.id} nothing is known that could be put back: it changed more than members of a server")
        outcome = await self.take_back(members)
        return Returned([outcome] if outcome else [])

    async def restore(self, id_: int) -> Returned:
        """Brings configuration and stored files back to the moment after an entry. Raises NotFound, and what a commit raises.

        Files come before the configuration that refers to them, and go after it. Where the configuration is refused they are put back.
        """
        await self.history.ask(Journal.get, id_)
        path = str(self.engine.context.current.path)
        moment = {each: await self.history.ask(Journal.at, id_, each) for each in await self.history.ask(Journal.paths)}
        main = moment.pop(path, None)
        files = [_plain(each) for each in moment.values() if each]
        differing = [each for each in files if await _current(each) != each.after]
        if lost := next((each for each in differing if not each.is_kept), None):
            raise Conflict(f"{lost.path} was too large to be kept, so that entry {id_} cannot be restored")
        come, go = [each for each in differing if each.after is not None], [each for each in differing if each.after is None]
        with _as(cause=f"{RESTORE}/{id_}"), several():
            former = {each.path: await _current(each) for each in come}
            outcomes = [await self._return_file(each, partial(_as_it_was, each)) for each in come]
            try:
                if main is not None and main.after is not None:
                    document = await asyncio.to_thread(_document, main.after)
                    if not header.same_text(_under_head(document, self.engine.document), self.engine.document):
                        outcomes.append(await self._commit(partial(_under_head, document)))
            except Exception:
                with _as(rights=None):
                    for each in come:
                        await self._return_file(each, partial(_as_it_was, replace(each, after=former[each.path])))
                raise
            return Returned([*outcomes, *[await self._return_file(each, partial(_as_it_was, each)) for each in go]])

    async def _commit(self, edit: Edit) -> Outcome:
        return await commit(self.engine.context, Change(edit, whole=True, kept=False))

    async def _return_file(self, content: Content, wanted: Wanted) -> Outcome:
        path = Path(content.path)
        if _is_spoe(content):
            return await self.spoe.change(path.name, wanted)
        store = self._store(content)

        async def compose() -> FileChange:
            data = wanted(await asyncio.to_thread(_read, path))
            draft = None if data is None else await asyncio.to_thread(store.draft, path, data)
            return FileChange(store, path, draft)

        return await commit(self.engine.context, FileChange(store, path, compose=compose))

    def _store(self, content: Content) -> Store:
        kind = content.object.partition("/")[0]
        for store in self.engine.stores.values():
            if store.kind == kind:
                return store
        raise NotFound(f"{content.path} is in none of the directories for stored files")


def _under_head(document: Document, now: Document) -> Document:
    return patches.sharing(header.under_head_of(document, now), now)


def _content_without(content: Content, mask: Mask, now: bytes | None) -> bytes | None:
    if not content.is_kept:
        raise Conflict(f"{content.path} was too large to be kept")
    is_key = any(is_secret(data) for data in (now, content.before, content.after) if data)
    return content_without(content.path, now, content.before, content.after, None if is_key else mask)


def _as_it_was(content: Content, now: bytes | None) -> bytes | None:
    return content.after


def _document(data: bytes | None) -> Document:
    return Document.parse(data or b"")


def _is_spoe(content: Content) -> bool:
    return content.object.startswith(f"{SPOE}/")


def _plain(content: Content) -> Content:
    """Without the version line of a SPOE file, which counts its changes."""
    if not _is_spoe(content):
        return content
    before, after = (each and header.without_versions(each) for each in (content.before, content.after))
    return replace(content, before=before, after=after)


async def _current(content: Content) -> bytes | None:
    """What the file holds now, as `_plain` shows it."""
    return _plain(replace(content, after=await asyncio.to_thread(_read, Path(content.path)))).after


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


@contextmanager
def _as(**members: Any) -> Iterator[None]:
    """What is committed meanwhile has an author with these members."""
    token = author.set(replace(author.get(), **members))
    try:
        yield
    finally:
        author.reset(token)
