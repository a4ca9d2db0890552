"""Draft, check, authorize, write and apply the stored files of a change, together with its configuration.

A change may have one file or several, with or without a new configuration, and is made completely or not at all. `FileSet` has the drafts,
which are written without locks. `Publication` replaces the files, under the locks.

Before a file is written, its entry in the ledger (native/haproxy_native/commit/ledger.py) is on disk. The entry is removed when the worker
has the content. A single file that the worker has not read needs no entry: its rename is the whole change.

- If the configuration stays, every file is written or deleted and then applied. A refusal by HAProxy undoes the change. After a crash the
  change is undone if any file is still unchanged, and is finished otherwise.
- If the configuration changes as well, files are written and applied before its text is replaced, and deleted after that: the configuration
  never names a file that does not exist. Until the text is replaced, a refusal or a crash undoes the change. From then on the change is
  finished, and a file that HAProxy refuses waits for a reload.

`resume` undoes or finishes interrupted changes at the next start.
"""

import asyncio
import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from haproxy_native.changes.file_operations import Contents, Drafted, FileOperation, FileStore, contents, discard
from haproxy_native.check.messages import Message
from haproxy_native.check.whole_set import WholeSet, check_whole_set
from haproxy_native.commit.change import Change, Content, Reload
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import Overtaken
from haproxy_native.commit.ledger import SKIPPED, WAITING
from haproxy_native.commit.permission import LARGEST, touches_of_file
from haproxy_native.commit.process import RELOAD_REQUESTED
from haproxy_native.disk import path_errors
from haproxy_native.disk.atomic import sync_directory
from haproxy_native.disk.file import Draft
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import NativeError, NeedsReload, RefusedAtRuntime, RuntimeFailure, RuntimeRefused, WriteFailed
from haproxy_native.planning.outcome import FilePlan, Reason
from haproxy_native.planning.touches import Touch
from haproxy_native.request_context import Author, Permissions
from haproxy_native.text import parts
from haproxy_native.text.document import Document

# The kind of the stores whose files name other files by their paths.
LISTS = "crt_list"


@dataclass(frozen=True)
class FileSet:
    """The file operations of a change, with their drafts. `bool` of a set is False if no file changes."""

    context: CommitContext
    operations: Sequence[FileOperation] = ()
    # The drafts of each operation. If an operation depends on the state of the process, this may be empty until the locks are held.
    made: Sequence[Drafted] = field(default=(), repr=False)

    def __bool__(self) -> bool:
        return any(drafted.drafts for drafted in self.made)

    @property
    def stores(self) -> dict[Path, FileStore]:
        return {path: store for drafted in self.made for path, store in drafted.stores.items()}

    @property
    def drafts(self) -> dict[Path, Draft | None]:
        """The drafts by the paths of the files; None for files that are deleted."""
        return {path: draft for drafted in self.made for path, draft in drafted.drafts.items()}

    @property
    def written(self) -> dict[Path, Path | None]:
        """The paths of the drafts, by the paths of the files; None for files that are deleted."""
        return {path: draft.path if draft else None for path, draft in self.drafts.items()}

    @property
    def partial(self) -> Collection[Path]:
        return [path for drafted in self.made for path in drafted.partial]

    def discard(self) -> None:
        for operation, drafted in zip(self.operations, self.made, strict=False):
            if not operation.keeps_drafts:
                discard(drafted.drafts)

    async def touches(self, rights: Permissions | None) -> Sequence[Touch]:
        """Return what the operations do to files or to objects in files, for permissions; empty for an author with all rights."""
        if rights is None or rights.are_all:
            return ()

        def touches_of_drafts() -> list[Touch]:
            touched: list[Touch] = []
            for drafted in self.made:
                if drafted.touches is not None:
                    touched += drafted.touches
                    continue
                for path, draft in drafted.drafts.items():
                    touched += touches_of_file(rights, drafted.stores[path], path, draft.path if draft else None)
            return touched

        return await asyncio.to_thread(touches_of_drafts)

    def refuse_named(self, document: Document) -> None:
        """Raise InUse if the configuration names a file that the operations delete."""
        for operation, drafted in zip(self.operations, self.made, strict=False):
            operation.refuse_named(drafted, document, self.context.base(document))

    async def current(self) -> "FileSet":
        """Return the file set to publish. Drafts that depend on the state of the process are written here. The caller holds the locks.

        Raises Overtaken if these drafts differ from the drafts that observers have judged, or if a file has changed since it was read. Also
        raises what the operations raise.
        """

        def compare() -> None:
            for operation in self.operations:
                operation.refuse()
            read = {path: data for drafted in self.made for path, data in drafted.read.items()}
            if contents(read) != read:
                raise Overtaken

        if not any(operation.reads_process for operation in self.operations):
            if self.operations:
                await asyncio.to_thread(compare)
            return self
        files = await write_drafts(self.context, self.operations)
        if self.made and await asyncio.to_thread(self._contents) != await asyncio.to_thread(files._contents):
            files.discard()
            raise Overtaken
        return files

    def _contents(self) -> Contents:
        return {path: draft.path.read_bytes() if draft else None for path, draft in self.drafts.items()}

    async def plan(self, reload: Reload = Reload.AUTO) -> dict[Path, FilePlan]:
        """Plan how each file is applied. The caller holds the locks."""
        steps = {path: given for drafted in self.made for path, given in drafted.steps.items()}
        plans: dict[Path, FilePlan] = {}
        for path, content in self.written.items():
            plan = await self.stores[path].plan(self.context, path, content)
            if reload in (Reload.NOW, Reload.NONE):
                plan = by_reload(plan, forced=reload is Reload.NOW)
            elif path in steps:
                plan = replace(plan, steps=steps[path], reasons=())
            plans[path] = plan
        return plans

    async def checked(self, document: Document, author: Author, name: str | None = None) -> list[Message]:
        """Check a configuration with these files; return HAProxy's warnings. Raises Refused, CheckImpossible and ShareExceeded."""
        for operation in self.operations:
            document = operation.spelled_out(document)
        home = await self.context.find_working_directory() or Path.cwd()

        def lay_out() -> WholeSet:
            texts = {part_name or str(self.context.current.path): part.data for part_name, part in parts.parts(document).items()}
            drafts = self.drafts
            changed: dict[str, bytes | Path] = {os.path.abspath(path): draft.path for path, draft in drafts.items() if draft}
            gone = [os.path.abspath(path) for path, draft in drafts.items() if draft is None]
            lists = [os.path.abspath(path) for path in drafts if self.stores[path].kind == LISTS]
            return WholeSet(texts, changed, lists, gone, home)

        whole_set = await asyncio.to_thread(lay_out)
        async with self.context.validating(author):
            return await check_whole_set(whole_set, self.context.check, name)

    def contents(self) -> list[Content]:
        """Return the content of each file before and after the change. Blocks."""
        found: list[Content] = []
        for path, draft in self.written.items():
            object_ = spelled(self.stores[path].kind, path.name)
            existing = [file for file in (path, draft) if file and file.exists()]
            if any(file.stat().st_size > LARGEST for file in existing):
                found.append(Content(object_, str(path), None, None, is_kept=False))
                continue
            before, after = (file.read_bytes() if file in existing else None for file in (path, draft))
            found.append(Content(object_, str(path), before, after))
        return found


async def write_drafts(context: CommitContext, operations: Sequence[FileOperation]) -> FileSet:
    """Write the drafts of operations; leave no draft on failure. Raises what operations raise, BadRequest and WriteFailed."""
    made = list[Drafted]()
    files = FileSet(context, operations, made)
    try:
        for operation in operations:
            made.append(await operation.drafted())
    except BaseException:
        files.discard()
        raise
    return files


async def draft_files(context: CommitContext, change: Change, *, is_judged: bool) -> FileSet:
    """Write the drafts of a change before its locks are held.

    Files that depend on the state of the process are always drafted under the locks. They are drafted here as well only if observers have
    to judge them (`is_judged`).
    """
    if not any(operation.reads_process for operation in change.files):
        return await write_drafts(context, change.files)
    if not is_judged:
        return FileSet(context, change.files)
    async with context.settled(), context.process_lock:
        await context.notice()
        return await write_drafts(context, change.files)


log = logging.getLogger(__name__)
PENDING = Reason("the configuration that refers to the file waits for its reload")


def by_reload(plan: FilePlan, *, forced: bool) -> FilePlan:
    """Return a plan that sends no commands, so that a reload applies the file.

    Unless `forced` is true, the plan needs no reload if the worker already has the content.
    """
    reasons = plan.reasons or ([RELOAD_REQUESTED] if forced or plan.steps else [])
    return FilePlan(() if forced else plan.seen, reasons, plan.used or bool(plan.steps), plan.awaited)


def reasons_of(plans: Iterable[FilePlan]) -> list[Reason]:
    """Return why the files of these plans need a reload."""
    return [reason for plan in plans if not plan.steps for reason in plan.reasons]


# -- publishing


@dataclass
class Publication:
    """Replaces files and applies them. The caller holds the locks.

    Call `begin` first and `update_ledger` last. If the text of the configuration changes too, replace it in between and call `finish`, or
    `undo` if replacing it failed.
    """

    context: CommitContext
    # By the path of each file.
    stores: Mapping[Path, FileStore]
    plans: Mapping[Path, FilePlan]
    # Why a reload is needed; complete after `update_ledger`. Once there is a reason, nothing more is applied at runtime and the files wait
    # for the reload.
    reasons: list[Reason] = field(default_factory=list)
    # Whether a reload may be scheduled. Otherwise the files wait for the next one.
    may_reload: bool = True
    # Files whose steps apply this change alone, and not all that they contain.
    partial: Collection[Path] = ()
    # Whether the text was replaced, so that the change can only be finished.
    decided: bool = False
    # Files that `finish` deletes.
    to_delete: Sequence[Path] = ()
    _applied: list[Path] = field(default_factory=list)

    async def begin(self, drafts: Mapping[Path, Draft | None], text: str = "") -> None:
        """Replace files by their drafts, delete files without a draft, and apply the files.

        Raises WriteFailed and RefusedAtRuntime; then nothing has changed. `text`: the fingerprint of the configuration that is replaced
        next; empty if it stays. If the configuration is replaced, files are not deleted here, but by `finish`.
        """
        self.to_delete = [path for path, draft in drafts.items() if draft is None and text]
        if text or len(drafts) > 1 or any(plan.used or plan.steps for plan in self.plans.values()):
            names = {path: store.name for path, store in self.stores.items() if path in drafts}
            await self.context.ledger.begin(names, text, self.to_delete)
        to_install = {path: draft for path, draft in drafts.items() if path not in self.to_delete}

        def install() -> None:
            for path, draft in to_install.items():
                if draft:
                    draft.install()
                else:
                    delete(path)

        try:
            await asyncio.to_thread(install)
        except NativeError:
            await self.undo()
            raise
        await self.apply(to_install)

    async def apply(self, paths: Iterable[Path]) -> None:
        """Apply files at runtime, unless a reload is needed.

        If HAProxy refuses a file, undo the change and raise RefusedAtRuntime. After the text was replaced, a refused file needs a reload
        instead.
        """
        for path in paths:
            for step in self.plans[path].steps:
                if self.reasons:
                    return
                try:
                    await step.apply(self.context.runtime)
                    self._applied.append(path)
                except RuntimeRefused as error:
                    # The process is as it was before this step.
                    if not self.decided:
                        await self.undo()
                        raise RefusedAtRuntime(error.answer) from error
                    self.reasons.append(_not_applied(path, error))
                except (NeedsReload, RuntimeFailure) as error:
                    self._applied.append(path)
                    self.may_reload = self.may_reload or not isinstance(error, NeedsReload)
                    self.reasons.append(_not_applied(path, error))

    async def undo(self) -> None:
        """Restore files and process to their state before the change.

        If HAProxy refuses that, schedule a reload. If a file cannot be written, the next start tries again.
        """
        self._note_published()
        ledger, paths = self.context.ledger, self._begun()
        try:
            await ledger.restore(*paths)
            if reasons := await self.apply_current(dict.fromkeys(self._applied)):
                ledger.wait_for_reload(paths, WAITING)
                self.context.reloads.schedule(reasons)
            else:
                await ledger.undo(*paths)
        except WriteFailed as error:
            log.error("undoing a change of stored files failed: %s; the next start tries again", error)

    async def finish(self) -> None:
        """Delete the files that the change deletes, and apply the deletions. The caller has replaced the text of the configuration."""
        await asyncio.to_thread(_delete_all, self.to_delete)
        self.decided = True
        await self.apply(self.to_delete)

    def update_ledger(self) -> None:
        """End the change in the ledger. Files that wait for a reload stay in the ledger, all others are removed from it."""
        self._note_published()
        ledger, paths = self.context.ledger, self._begun()
        if self.reasons:
            return ledger.wait_for_reload(paths, WAITING if self.may_reload or self.context.pending else SKIPPED)
        unread = {path: ledger.entries[str(path)].state for path in paths if path in self.partial}
        for path, state in unread.items():
            if state:
                ledger.wait_for_reload([path], state)
        ledger.remove(*(path for path in paths if not unread.get(path)))

    @property
    def to_reload(self) -> Sequence[Reason]:
        """The reasons for which to schedule a reload. Valid when `update_ledger` was called.

        If a configuration that waits for a reload names a file that the worker has not accepted at runtime, the file waits for the same
        reload.
        """
        unread = [
            path for path, plan in self.plans.items() if plan.awaited and (not plan.steps or str(path) in self.context.ledger.entries)
        ]
        waits = [PENDING] if unread and self.context.pending else []
        return tuple(self.reasons or waits) if self.may_reload else ()

    def _begun(self) -> list[Path]:
        """Return the files that have an entry for this change in the ledger."""
        entries = self.context.ledger.entries
        return [path for path in self.stores if (entry := entries.get(str(path))) and entry.before is not None]

    def _note_published(self) -> None:
        for path in self.plans:
            self.context.note_published(path)

    async def apply_current(self, paths: Iterable[Path]) -> list[Reason]:
        """Apply the current contents of files to the worker. Return the reasons for a reload; empty if none is needed."""
        reasons = list[Reason]()
        for path in paths:
            plans = await plan_current(self.context, {path: self.stores[path]})
            restored = replace(self, plans=plans, reasons=reasons_of(plans.values()), decided=True, _applied=[])
            await restored.apply(plans)
            reasons += restored.reasons
        return reasons


async def plan_current(context: CommitContext, stores: Mapping[Path, FileStore]) -> dict[Path, FilePlan]:
    """Plan how to apply the current contents of files."""
    return {path: await store.plan(context, path, path if await asyncio.to_thread(path.exists) else None) for path, store in stores.items()}


def _delete_all(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            if path.exists():
                delete(path)
        except WriteFailed as error:
            log.error("%s", error)


def delete(path: Path) -> None:
    """Delete a file. The deletion is on disk when this returns. Raises WriteFailed."""
    try:
        path.unlink()
    except OSError as error:
        raise WriteFailed(path_errors.failed(f"cannot delete {path}", error, path.parent)) from error
    sync_directory(os, path.parent)


def _not_applied(path: Path, error: NativeError) -> Reason:
    if isinstance(error, NeedsReload):
        return Reason(error.detail)
    why = "HAProxy refuses" if isinstance(error, RuntimeRefused) else "it is unknown whether HAProxy has accepted"
    return Reason(f"{why} {path.name}: {error}")


async def resume(context: CommitContext) -> None:
    """Finish or undo the changes of stored files that a crash has interrupted. Called at the start."""
    for names in context.ledger.interrupted:
        try:
            await _resume_change(context, [Path(name) for name in names])
        except NativeError as error:
            log.warning("resuming the interrupted change of %s failed: %s", " and ".join(names), error)
    context.mark_files_loaded()


async def _resume_change(context: CommitContext, paths: Sequence[Path]) -> None:
    """Finish or undo the interrupted change of these files, as the page above says, and apply the files."""
    ledger = context.ledger
    entries = {path: ledger.entries[str(path)] for path in paths}
    text = entries[paths[0]].text
    to_delete = [path for path in paths if entries[path].goes]
    is_undone = text == context.current.fingerprint or any(ledger.is_untouched(path) for path in paths if path not in to_delete)
    if (is_undone and not text and len(paths) == 1) or any(entry.store not in context.stores for entry in entries.values()):
        return await ledger.undo(*paths)
    if is_undone:
        await ledger.restore(*paths)
    else:
        await asyncio.to_thread(_delete_all, to_delete)
    worker = context.running.worker
    if worker and all(ledger.was_read(path, worker) for path in paths):
        return ledger.remove(*paths)
    theirs = {path: context.stores[entry.store] for path, entry in entries.items()}
    plans = await plan_current(context, theirs)
    publication = Publication(context, theirs, plans, reasons_of(plans.values()))
    if text and not is_undone and context.running.document is not context.current.document:
        # A text that waits for a reload and its files are loaded together.
        publication.reasons = [PENDING]
    elif text or is_undone:
        publication.reasons = await publication.apply_current(paths)
    else:
        await publication.apply(paths)
    publication.update_ledger()
    log.warning("the interrupted change of %s has been %s", " and ".join(map(str, paths)), "undone" if is_undone else "finished")
