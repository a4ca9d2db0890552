"""Stored files that change together with the configuration: edited and written as drafts, checked with it, and published as one.

What comes or changes is written before the configuration is replaced, and what goes is deleted after that: at no moment does a text stand
without a file that it names. The replacement of the text decides: until then the ledger (native/haproxy_native/commit/ledger.py) says that
all goes back, from then on that all is done. Where the text stays, the last file that is written decides.
"""

import asyncio
import logging
import os
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from haproxy_native.beside import beside
from haproxy_native.check.messages import Message
from haproxy_native.check.whole_set import WholeSet, check_whole_set
from haproxy_native.commit.change import Change, Content, Contents, FileStore
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.file_change import StoredFiles, content, delete, finish, touches_of
from haproxy_native.commit.ledger import SKIPPED, WAITING
from haproxy_native.disk.file import Draft
from haproxy_native.errors import BadRequest, NativeError, NotLive, NotTaken, RuntimeFailure, RuntimeRefused, Unreadable, WriteFailed
from haproxy_native.planning.outcome import FilePlan, Reason
from haproxy_native.planning.touches import Touch
from haproxy_native.runtime import commands
from haproxy_native.runtime.client import Worker
from haproxy_native.text import parts
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
# A kind of stores whose files name further ones by their paths.
LISTS = "crt_list"


@dataclass(frozen=True)
class FileSet:
    """`before`: what the files held that the edit has read; `drafts`: those that differ, None for one that goes. False without any."""

    context: CommitContext
    stores: Mapping[Path, FileStore] = field(default_factory=dict)
    before: Contents = field(default_factory=dict, repr=False)
    drafts: Mapping[Path, Draft | None] = field(default_factory=dict)
    touches: Sequence[Touch] = ()

    def __bool__(self) -> bool:
        return bool(self.drafts)

    @property
    def written(self) -> dict[Path, Path | None]:
        """Returns where the files' new contents are, by path; None for a deleted file."""
        return {path: draft.path if draft else None for path, draft in self.drafts.items()}

    def discard(self) -> None:
        for draft in self.drafts.values():
            if draft:
                draft.discard()

    def refuse_named(self, document: Document) -> None:
        """Raises InUse where the configuration names a file that goes."""
        for path, draft in self.drafts.items():
            if draft is None:
                self.stores[path].refuse_named(path, document, str(self.context.current.path.parent))

    async def compare(self) -> None:
        """Raises Overtaken where a file is not what the edit has read."""
        if await asyncio.to_thread(_contents, self.before) != self.before:
            raise Overtaken

    async def planned(self) -> dict[Path, FilePlan]:
        """How each file is applied. The caller holds the locks."""
        return {
            path: await self.stores[path].plan(self.context, path, draft.path if draft else None) for path, draft in self.drafts.items()
        }

    async def checked(self, document: Document, name: str) -> list[Message]:
        """What HAProxy warns of, of a configuration with these files. Raises Refused and CheckImpossible."""
        given = await asyncio.to_thread(self._set, document)
        with self.context.validating():
            return await check_whole_set(given, self.context.check, name)

    def _set(self, document: Document) -> WholeSet:
        texts = {name or str(self.context.current.path): part.data for name, part in parts.parts(document).items()}
        contents: dict[str, bytes | Path] = {os.path.abspath(path): draft.path for path, draft in self.drafts.items() if draft}
        gone = [os.path.abspath(path) for path, draft in self.drafts.items() if draft is None]
        lists = [os.path.abspath(path) for path in self.drafts if self.stores[path].kind == LISTS]
        return WholeSet(texts, contents, lists, gone, Path.cwd())

    def contents(self) -> list[Content]:
        return [content(self.stores[path].kind, path, draft) for path, draft in self.drafts.items()]


@asynccontextmanager
async def edited(context: CommitContext, change: Change) -> AsyncIterator[FileSet]:
    """What a change makes of stored files; no draft is left where its body raises. Raises what the edit raises, BadRequest, WriteFailed."""
    if change.files is None:
        yield FileSet(context)
        return
    edits = change.files
    before = await asyncio.to_thread(_contents, edits.stores)
    wanted = await beside(edits.edit, before)
    after = {path: data for path, data in wanted.items() if data != before[path]}
    touched = edits.touches(before, after) if edits.touches else await asyncio.to_thread(_touches, change, edits.stores, before, after)
    drafts = dict[Path, Draft | None]()
    files = FileSet(context, edits.stores, before, drafts, touched)
    try:
        # What goes is deleted last.
        for path, data in sorted(after.items(), key=lambda row: row[1] is None):
            drafts[path] = None if data is None else await asyncio.to_thread(edits.stores[path].draft, path, data)
            if edits.is_checked and (draft := drafts[path]):
                await asyncio.to_thread(_check_content, edits.stores[path], path, draft.path)
        yield files
    except BaseException:
        files.discard()
        raise


def _check_content(store: FileStore, path: Path, draft: Path) -> None:
    try:
        store.check_content(path, draft)
    except BadRequest as error:
        raise BadRequest(f"{store.kind}/{path.name}: {error.detail}") from None


def _touches(change: Change, stores: Mapping[Path, FileStore], before: Contents, after: Contents) -> list[Touch]:
    rights = change.author.rights
    return [touch for path in after for touch in touches_of(rights, stores[path], path, before[path], after[path])]


def _contents(paths: Mapping[Path, object]) -> Contents:
    """Raises Unreadable."""
    return {path: _read(path) for path in paths}


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Unreadable(f"Cannot read {path}: {error.strerror}") from error


@dataclass
class Publication:
    """One set on its way to disk and process: `begin`, then the replacement of the text if there is one, then `end`; or `undo`.

    The caller holds the locks. `reasons`: why only a reload will do. Then nothing is applied live, and the files wait for it; those that
    `skip` are read by the next reload, whenever that is.
    """

    files: FileSet
    plans: Mapping[Path, FilePlan]
    reasons: list[Reason]
    skip: bool = False
    applied: list[Path] = field(default_factory=list)

    async def begin(self, text: str) -> None:
        """Writes what comes or changes, and applies it. `text`: the fingerprint of the configuration that is replaced next, if it is.

        Raises WriteFailed and NotTaken with nothing changed.
        """
        files = self.files
        names, going = {path: files.stores[path].name for path in files.drafts}, [path for path, draft in files.drafts.items() if not draft]
        await asyncio.to_thread(files.context.ledger.begin, names, text, going)
        try:
            await asyncio.to_thread(_install, files)
            await self._apply([path for path in files.drafts if path not in going])
        except RuntimeRefused as error:
            await self.undo()
            raise NotTaken(error.answer) from error
        except NativeError:
            await self.undo()
            raise

    async def _apply(self, paths: Sequence[Path]) -> None:
        """Live, unless a reload is needed. Raises RuntimeRefused."""
        for path in paths:
            for step in self.plans[path].steps:
                if self.reasons or self.skip:
                    return
                self.applied.append(path)
                try:
                    await step.carry_out(self.files.context.runtime)
                except RuntimeRefused:
                    # After which the process is as it was before this step.
                    self.applied.pop()
                    raise
                except (NotLive, RuntimeFailure) as error:
                    self.reasons.append(_not_applied(path, error))

    async def undo(self) -> None:
        """File and process are as they were; what cannot be put back now is by a reload, or at the next start."""
        context, paths = self.files.context, list(self.files.drafts)
        try:
            await asyncio.to_thread(context.ledger.restore, *paths)
            reasons = [step for path in dict.fromkeys(self.applied) for step in await _bring(context, self.files.stores[path], path)]
            if not reasons:
                await asyncio.to_thread(context.ledger.undo, *paths)
                return
            await asyncio.to_thread(context.ledger.owe, paths, WAITING)
            context.reloads.schedule(reasons)
        except WriteFailed as error:
            log.error("%s; it is tried again at the next start", error)

    async def end(self) -> None:
        """Deletes what goes, and tells the process; from then on `reasons` are complete."""
        context, drafts = self.files.context, self.files.drafts
        gone = [path for path, draft in drafts.items() if draft is None]
        await asyncio.to_thread(_delete, gone)
        try:
            await self._apply(gone)
        except RuntimeRefused as error:
            self.reasons.append(_not_applied(gone[0], error))
        await asyncio.to_thread(_settle, context, list(drafts), SKIPPED if self.skip else WAITING if self.reasons else "")
        for path in drafts:
            context.note_published(path)


def _install(files: FileSet) -> None:
    for draft in files.drafts.values():
        if draft:
            draft.install()


def _delete(paths: Sequence[Path]) -> None:
    for path in paths:
        try:
            if path.exists():
                delete(path)
        except WriteFailed as error:
            log.error("%s", error)


def _settle(context: CommitContext, paths: Sequence[Path], state: str) -> None:
    """An entry that cannot be written says to the next start that the set has yet to be applied, which is harmless."""
    try:
        if state:
            context.ledger.owe(paths, state)
        else:
            context.ledger.in_step(*paths)
    except WriteFailed as error:
        log.error("%s", error)


async def _bring(context: CommitContext, store: StoredFiles, path: Path) -> list[Reason]:
    """Makes the worker do what a file holds; the reasons where that needs a reload."""
    plan = await store.plan(context, path, path if await asyncio.to_thread(path.exists) else None)
    try:
        await commands.carry_out(context.runtime, plan.steps)
    except (NotLive, RuntimeFailure) as error:
        return [_not_applied(path, error)]
    return [] if plan.steps else list(plan.reasons)


def _not_applied(path: Path, error: NativeError) -> Reason:
    if isinstance(error, NotLive):
        return Reason("", 0, "", error.detail)
    why = "HAProxy refuses" if isinstance(error, RuntimeRefused) else "it is not known whether HAProxy took"
    return Reason("", 0, "", f"{why} {path.name}: {error}")


async def resume(context: CommitContext, stores: Mapping[str, StoredFiles]) -> None:
    """Finishes, at the start, changes that a crash interrupted, or undoes those that were not yet decided."""
    known = context.state_file.value
    worker = Worker(known.pid, known.started)
    for names in context.ledger.interrupted:
        try:
            await _resume(context, stores, [Path(name) for name in names], worker)
        except NativeError as error:
            log.warning("the change of %s that was cut off: %s", " and ".join(names), error)
    context.ledger.loaded_by(worker)


async def _resume(context: CommitContext, stores: Mapping[str, StoredFiles], paths: Sequence[Path], worker: Worker) -> None:
    ledger = context.ledger
    entries = [ledger.entries[str(path)] for path in paths]
    text, is_alone = entries[0].text, len(paths) == 1 and not entries[0].text
    is_begun = any(ledger.is_untouched(path) for path, owed in zip(paths, entries, strict=True) if not owed.goes)
    is_undone = is_begun or text == context.current.fingerprint
    if any(owed.store not in stores for owed in entries) or (is_alone and is_undone):
        return ledger.undo(*paths)
    if is_undone:
        await asyncio.to_thread(ledger.restore, *paths)
    else:
        await asyncio.to_thread(_delete, [path for path, owed in zip(paths, entries, strict=True) if owed.goes])
    if all(ledger.was_read(path, worker) for path in paths):
        return ledger.in_step(*paths)
    if is_alone:
        await finish(context, stores[entries[0].store], paths[0])
    else:
        # A text that waits for a reload and its files are loaded together.
        waits = bool(text) and not is_undone and context.running.document is not context.current.document
        known = zip(paths, entries, strict=True)
        reasons = [] if waits else [step for path, owed in known for step in await _bring(context, stores[owed.store], path)]
        await asyncio.to_thread(_settle, context, paths, WAITING if waits or reasons else "")
    log.warning("the change of %s that was cut off has been %s", " and ".join(map(str, paths)), "undone" if is_undone else "finished")
