"""Puts stored files on disk and into the process: one or several, with the text of the configuration or without, all or nothing.

A file is entered into the ledger (native/haproxy_native/commit/ledger.py) before it is written, and removed when the worker has it. A file
that changes alone, and that the worker has not read, is not entered: its rename is the whole change.

- Without a text, every file is written or deleted and then applied. A refusal by HAProxy undoes the change. After a crash it is undone if a
  file is still as it was, and is finished otherwise.
- With a text, files are written and applied before the text is replaced, and deleted after that: at no moment does the configuration name a
  file that is missing. The replacement of the text decides: until then a refusal or a crash undoes the change, from then on it is finished,
  and what HAProxy refuses waits for a reload.
"""

import asyncio
import logging
import os
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from haproxy_native.changes.file_operations import FileStore
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.ledger import SKIPPED, WAITING
from haproxy_native.disk import ownership
from haproxy_native.disk.atomic import sync_directory
from haproxy_native.disk.file import Draft
from haproxy_native.errors import NativeError, NotLive, NotTaken, RuntimeFailure, RuntimeRefused, WriteFailed
from haproxy_native.planning.outcome import FilePlan, Reason

log = logging.getLogger(__name__)
ASKED = Reason("", 0, "", "a reload was asked for")
PENDING = Reason("", 0, "", "the configuration that refers to the file waits for its reload")


def by_reload(plan: FilePlan, *, forced: bool) -> FilePlan:
    """Return the plan of a file that is not applied live; without `forced` no reload is needed if the worker has the content already."""
    reasons = plan.reasons or ([ASKED] if forced or plan.steps else [])
    return FilePlan(() if forced else plan.seen, reasons, plan.used or bool(plan.steps), plan.awaited)


def reasons_of(plans: Iterable[FilePlan]) -> list[Reason]:
    """Return why the files of these plans need a reload."""
    return [reason for plan in plans if not plan.steps for reason in plan.reasons]


@dataclass
class Publication:
    """`begin`, then, if a text changes too, its replacement and `finish`, or `undo`; `settle` at the end. The caller holds the locks.

    `stores` and `plans` are those of each file. `reasons`: why only a reload will do; then nothing is applied live, and the files wait for
    that reload, or without `may_reload` for any. `partial`: files whose steps apply this change alone, and not all that they hold.
    """

    context: CommitContext
    stores: Mapping[Path, FileStore]
    plans: Mapping[Path, FilePlan]
    reasons: list[Reason] = field(default_factory=list)
    may_reload: bool = True
    partial: Collection[Path] = ()
    # Whether the text has been replaced, so that there is no way back.
    decided: bool = False
    going: Sequence[Path] = ()
    _applied: list[Path] = field(default_factory=list)

    async def begin(self, drafts: Mapping[Path, Draft | None], text: str = "") -> None:
        """Write the drafts, delete files without one, and apply them. `text`: the fingerprint of the configuration that is replaced next.

        With a text, files are deleted by `finish`. Raises WriteFailed and NotTaken with nothing changed.
        """
        self.going = [path for path, draft in drafts.items() if draft is None and text]
        if text or len(drafts) > 1 or any(plan.used or plan.steps for plan in self.plans.values()):
            names = {path: store.name for path, store in self.stores.items() if path in drafts}
            await self.context.ledger.begin(names, text, self.going)
        now = {path: draft for path, draft in drafts.items() if path not in self.going}
        try:
            await asyncio.to_thread(_install, now)
        except NativeError:
            await self.undo()
            raise
        await self.apply(now)

    async def apply(self, paths: Iterable[Path]) -> None:
        """Apply files live, unless a reload is needed. Raises NotTaken with the change undone, unless the text has been replaced."""
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
                        raise NotTaken(error.answer) from error
                    self.reasons.append(_not_applied(path, error))
                except (NotLive, RuntimeFailure) as error:
                    self._applied.append(path)
                    self.may_reload = self.may_reload or not isinstance(error, NotLive)
                    self.reasons.append(_not_applied(path, error))

    async def undo(self) -> None:
        """Restore files and process; what cannot be restored now is by a reload, or at the next start."""
        self._note_published()
        ledger, paths = self.context.ledger, self._begun()
        try:
            await ledger.restore(*paths)
            if reasons := await self.bring(dict.fromkeys(self._applied)):
                ledger.owe(paths, WAITING)
                self.context.reloads.schedule(reasons)
            else:
                await ledger.undo(*paths)
        except WriteFailed as error:
            log.error("%s; it is tried again at the next start", error)

    async def finish(self) -> None:
        """Delete what goes with the text that has been replaced."""
        await asyncio.to_thread(_delete_all, self.going)
        self.decided = True
        await self.apply(self.going)

    def settle(self) -> None:
        """Enter into the ledger what waits for a reload, and remove the rest; from then on `reasons` are complete."""
        self._note_published()
        ledger, paths = self.context.ledger, self._begun()
        if self.reasons:
            return ledger.owe(paths, WAITING if self.may_reload or self.context.pending else SKIPPED)
        unread = {path: ledger.entries[str(path)].state for path in paths if path in self.partial}
        for path, state in unread.items():
            if state:
                ledger.owe([path], state)
        ledger.in_step(*(path for path in paths if not unread.get(path)))

    @property
    def to_reload(self) -> Sequence[Reason]:
        """Why a reload is to be scheduled, once the change is settled.

        A file that the worker has not taken live, and that a configuration names which waits for its reload, waits with it.
        """
        unread = [
            path for path, plan in self.plans.items() if plan.awaited and (not plan.steps or str(path) in self.context.ledger.entries)
        ]
        waits = [PENDING] if unread and self.context.pending else []
        return tuple(self.reasons or waits) if self.may_reload else ()

    def _begun(self) -> list[Path]:
        """The files whose change the ledger has entered."""
        entries = self.context.ledger.entries
        return [path for path in self.stores if (owed := entries.get(str(path))) and owed.before is not None]

    def _note_published(self) -> None:
        for path in self.plans:
            self.context.note_published(path)

    async def bring(self, paths: Iterable[Path]) -> list[Reason]:
        """Make the worker do what files hold now; returns the reasons if that needs a reload."""
        reasons = list[Reason]()
        for path in paths:
            plans = await planned(self.context, {path: self.stores[path]})
            restored = replace(self, plans=plans, reasons=reasons_of(plans.values()), decided=True, _applied=[])
            await restored.apply(plans)
            reasons += restored.reasons
        return reasons


async def planned(context: CommitContext, stores: Mapping[Path, FileStore]) -> dict[Path, FilePlan]:
    """Plan how files are applied as they are."""
    return {path: await store.plan(context, path, path if await asyncio.to_thread(path.exists) else None) for path, store in stores.items()}


def _install(drafts: Mapping[Path, Draft | None]) -> None:
    for path, draft in drafts.items():
        if draft:
            draft.install()
        else:
            delete(path)


def _delete_all(paths: Iterable[Path]) -> None:
    for path in paths:
        try:
            if path.exists():
                delete(path)
        except WriteFailed as error:
            log.error("%s", error)


def delete(path: Path) -> None:
    """Raises WriteFailed."""
    try:
        path.unlink()
    except OSError as error:
        raise WriteFailed(ownership.failed(f"cannot delete {path}", error, path.parent)) from error
    sync_directory(os, path.parent)


def _not_applied(path: Path, error: NativeError) -> Reason:
    if isinstance(error, NotLive):
        return Reason("", 0, "", error.detail)
    why = "HAProxy refuses" if isinstance(error, RuntimeRefused) else "it is not known whether HAProxy took"
    return Reason("", 0, "", f"{why} {path.name}: {error}")


async def resume(context: CommitContext, stores: Mapping[str, FileStore]) -> None:
    """Finish, at the start, changes that a crash interrupted, or undo those that were not yet decided."""
    for names in context.ledger.interrupted:
        try:
            await _resume(context, stores, [Path(name) for name in names])
        except NativeError as error:
            log.warning("the change of %s that was cut off: %s", " and ".join(names), error)
    context.mark_files_loaded()


async def _resume(context: CommitContext, stores: Mapping[str, FileStore], paths: Sequence[Path]) -> None:
    ledger = context.ledger
    entries = {path: ledger.entries[str(path)] for path in paths}
    text = entries[paths[0]].text
    going = [path for path in paths if entries[path].goes]
    is_undone = text == context.current.fingerprint or any(ledger.is_untouched(path) for path in paths if path not in going)
    if (is_undone and not text and len(paths) == 1) or any(owed.store not in stores for owed in entries.values()):
        return await ledger.undo(*paths)
    if is_undone:
        await ledger.restore(*paths)
    else:
        await asyncio.to_thread(_delete_all, going)
    worker = context.running.worker
    if worker and all(ledger.was_read(path, worker) for path in paths):
        return ledger.in_step(*paths)
    theirs = {path: stores[owed.store] for path, owed in entries.items()}
    plans = await planned(context, theirs)
    publication = Publication(context, theirs, plans, reasons_of(plans.values()))
    if text and not is_undone and context.running.document is not context.current.document:
        # A text that waits for a reload and its files are loaded together.
        publication.reasons = [PENDING]
    elif text or is_undone:
        publication.reasons = await publication.bring(paths)
    else:
        await publication.apply(paths)
    publication.settle()
    log.warning("the change of %s that was cut off has been %s", " and ".join(map(str, paths)), "undone" if is_undone else "finished")
