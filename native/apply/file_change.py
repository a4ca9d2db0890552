"""A change of a stored file on its way through the commit: entered into the ledger, written, then told to the worker.

How the worker learns of it is asked of the file's store. What HAProxy refuses leaves file and process as they were.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from native.apply.outcome import FilePlan, Reason
from native.apply.site import Site
from native.apply.stored import SKIPPED, WAITING
from native.config import ownership
from native.config.file import Draft
from native.config.journal import sync_directory
from native.errors import NativeError, NotLive, NotTaken, RuntimeFailure, RuntimeRefused, WriteFailed
from native.runtime import commands
from native.runtime.client import Worker
from native.runtime.commands import Step

log = logging.getLogger(__name__)
ASKED = Reason("", 0, "", "a reload was asked for")


class Store(Protocol):
    """What the commit asks of a store (native/storage/store.py)."""

    @property
    def name(self) -> str: ...

    async def plan(self, site: Site, path: Path, content: Path | None) -> FilePlan:
        """How the worker gets to know of a file that will hold what now stands at `content`, or that will be gone."""


@dataclass(frozen=True)
class FileChange:
    """`draft` becomes the file; without one the file is deleted.

    `check` is called under the lock, before anything happens, and raises what speaks against the change. `compose`, where it can only
    then be told what the change is, gives it. `steps`, where the caller knows better than the store what to tell the worker; they are
    `partial` when they tell of this change only, not of all that the file holds. `may_reload`: no reload is scheduled otherwise.
    Without `live` the worker is told by a reload only.
    """

    store: Store
    path: Path
    draft: Draft | None = None
    check: Callable[[], None] = lambda: None
    steps: Sequence[Step] | None = None
    force_reload: bool = False
    may_reload: bool = True
    live: bool = True
    partial: bool = False
    compose: "Callable[[], Awaitable[FileChange]] | None" = None


@dataclass(frozen=True)
class Told:
    """What the worker knows of a changed file: all there is to know, or the reasons for a reload; `awaited` as in the plan."""

    reasons: Sequence[Reason] = ()
    awaited: bool = False


async def change_locked(site: Site, change: FileChange) -> Told:
    """All but the reload, for who holds the lock. Raises what the check raises, WriteFailed and NotTaken, with nothing changed."""
    try:
        await notice(site)
        change.check()
        if change.compose:
            change = await change.compose()
        return await _carried_out(site, change)
    finally:
        if change.draft:
            change.draft.discard()


async def _carried_out(site: Site, change: FileChange) -> Told:
    plan = await planned(site, change)
    if not plan.used and not plan.steps:
        await asyncio.to_thread(_install, change)
        return Told([ASKED] if change.force_reload else [], plan.awaited)
    await asyncio.to_thread(site.stored.begin, change.path, change.store.name)
    try:
        await asyncio.to_thread(_install, change)
    except NativeError:
        with suppress(WriteFailed):
            await asyncio.to_thread(site.stored.undo, change.path)
        raise
    return await _tell(site, change, plan)


async def notice(site: Site) -> None:
    """What others did: another text, another worker."""
    site.current.notice()
    await site.running.observe()
    known = site.memory.value
    site.stored.loaded_by(Worker(known.pid, known.started))


async def planned(site: Site, change: FileChange) -> FilePlan:
    plan = await change.store.plan(site, change.path, change.draft.path if change.draft else None)
    if change.force_reload or not change.live:
        seen = () if change.force_reload else plan.seen
        return FilePlan(seen, plan.reasons or [ASKED], plan.used or bool(plan.steps), plan.awaited)
    return plan if change.steps is None else replace(plan, steps=change.steps, reasons=())


async def _tell(site: Site, change: FileChange, plan: FilePlan) -> Told:
    reasons, may_reload = plan.reasons, change.may_reload or change.force_reload
    if plan.steps:
        try:
            await commands.carry_out(site.runtime, plan.steps)
            reasons = ()
        except RuntimeRefused as error:
            await asyncio.to_thread(site.stored.undo, change.path)
            raise NotTaken(error.answer) from error
        except NotLive as error:
            reasons = [Reason("", 0, "", error.detail)]
        except RuntimeFailure as error:
            reasons, may_reload = [Reason("", 0, "", f"it is not known whether HAProxy took {change.path.name}: {error}")], True
    if not reasons:
        state = site.stored.entries[str(change.path)].state if change.partial else ""
        if state:
            site.stored.owe(change.path, state)
        else:
            site.stored.in_step(change.path)
        return Told((), plan.awaited)
    site.stored.owe(change.path, WAITING if may_reload or site.pending else SKIPPED)
    return Told(reasons if may_reload else (), plan.awaited)


def _install(change: FileChange) -> None:
    if change.draft is not None:
        change.draft.install()
        return
    try:
        change.path.unlink()
    except OSError as error:
        raise WriteFailed(ownership.failed(f"cannot delete {change.path}", error, change.path.parent)) from error
    sync_directory(os, change.path.parent)


async def _finish(site: Site, store: Store, path: Path) -> None:
    there = await asyncio.to_thread(path.exists)
    await _tell(site, FileChange(store, path), await store.plan(site, path, path if there else None))


async def resume(site: Site, stores: Mapping[str, Store]) -> None:
    """At start: what a crash cut off is finished, or undone where HAProxy refuses it."""
    known = site.memory.value
    for name in site.stored.interrupted:
        path, store = Path(name), stores.get(site.stored.entries[name].store)
        try:
            if store is None or site.stored.is_untouched(path):
                site.stored.undo(path)
            elif site.stored.was_read(path, Worker(known.pid, known.started)):
                site.stored.in_step(path)
            else:
                await _finish(site, store, path)
                log.warning("the change of %s that was cut off has been finished", path)
        except NativeError as error:
            log.warning("the change of %s that was cut off: %s", path, error)
    site.stored.loaded_by(Worker(known.pid, known.started))
