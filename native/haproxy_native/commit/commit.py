"""The one way a change reaches file and process, in one order: compare, write beside the file, check, back up, replace, publish, apply.

Commits wait for each other; readers wait for nobody. A client that goes away does not stop a commit half-way.
"""

import asyncio
import logging
import time
import uuid
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from haproxy_native.beside import beside
from haproxy_native.commit.context import Site
from haproxy_native.commit.file_change import FileChange, change_locked
from haproxy_native.commit.state_file import stamped_fingerprint
from haproxy_native.disk.files import Drafts
from haproxy_native.editing import header
from haproxy_native.editing.header import Stamped
from haproxy_native.editing.references import refuse_rebound
from haproxy_native.errors import Conflict, Refused, RuntimeFailure, RuntimeRefused
from haproxy_native.events import ChangedLive, Committed
from haproxy_native.planning.ahead import ahead
from haproxy_native.planning.outcome import Plan, Reason, reason_at
from haproxy_native.reload.records import IN_PROGRESS
from haproxy_native.runtime import actions, commands
from haproxy_native.runtime.verification import prove
from haproxy_native.text import parts
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
Edit = Callable[[Document], Document]
PENDING = Reason("", 0, "", "the configuration that refers to the file waits for its reload")
STOPPED = Reason("", 0, "", "HAProxy does not run")
Result = TypeVar("Result")


@dataclass(frozen=True)
class Change:
    """`version` is the one the client saw, None for any; `keeps_version` takes the text's own instead of counting.

    `banner` None: as before. `actions` are those of a raw push, used with `skip_reload`. A text that is not `checked` is one that
    HAProxy runs already. A `whole` text is live when all of it is, any other change when its own part is. What is refused is `kept` for
    whoever looks for the cause. `sent`: the number of lines of a text as it was sent, by file; HAProxy then names those.
    """

    edit: Edit
    version: int | None = None
    transaction_id: str | None = None
    force_reload: bool = False
    skip_reload: bool = False
    keeps_version: bool = False
    banner: bool | None = None
    actions: str = ""
    checked: bool = True
    whole: bool = False
    kept: bool = True
    sent: Mapping[str, int] = field(default_factory=dict)

    def compare(self, configured: int) -> None:
        if self.version is None or self.version == configured:
            return
        if self.transaction_id:
            raise Conflict(f"version mismatch, transaction version: {self.version}, configured version: {configured}")
        raise Conflict(f"version in configuration file is {configured}, given version is {self.version}")


@dataclass(frozen=True)
class Outcome:
    """`live`: in effect now. Else `reload_id` names the reload that will make it so, or has made it so where it was `forced`."""

    version: int
    reload_id: str | None = None
    live: bool = False
    forced: bool = False
    reasons: Sequence[Reason] = ()

    @property
    def kind(self) -> str:
        if self.forced:
            return "reloaded"
        return "scheduled" if self.reload_id else "live" if self.live else "written"


async def commit(site: Site, change: Change | FileChange) -> Outcome:
    """Raises Conflict, Refused, CheckImpossible, NotTaken, WriteFailed, what the edit or the check raises, and after the commit
    ReloadFailed or RuntimeFailure."""
    return await counted(site, _commit(site, change))


async def counted(site: Site, work: Coroutine[Any, Any, Outcome]) -> Outcome:
    """A commit to its end, and what became of it as an event; raises what it raises."""
    return await to_the_end(_told(site, work))


async def to_the_end(work: Coroutine[Any, Any, Result]) -> Result:
    """Whatever becomes of who waits for it."""
    task = asyncio.create_task(work)
    task.add_done_callback(lambda done: done.cancelled() or done.exception())
    return await asyncio.shield(task)


async def _told(site: Site, work: Coroutine[Any, Any, Outcome]) -> Outcome:
    began, kind = time.monotonic(), "failed"
    try:
        outcome = await work
        kind = outcome.kind
        return outcome
    finally:
        site.events.tell(Committed(kind, time.monotonic() - began))


async def _commit(site: Site, change: Change | FileChange) -> Outcome:
    async with site.lock:
        outcome = await (_file_locked(site, change) if isinstance(change, FileChange) else commit_locked(site, change))
        if outcome.reasons and not change.force_reload:
            site.memory.set()
            return replace(outcome, reload_id=site.reloads.schedule(outcome.reasons))
    return await forced(site, outcome) if outcome.reasons else outcome


async def forced(site: Site, outcome: Outcome) -> Outcome:
    """With what became of the reload; where HAProxy does not run, it is scheduled for its start. Raises ReloadFailed."""
    record = await site.reloads.force(outcome.reasons)
    if record.status == IN_PROGRESS:
        return replace(outcome, live=False, reload_id=record.id)
    return replace(outcome, live=True, forced=True)


async def commit_locked(site: Site, change: Change) -> Outcome:
    """All but the reload, for who holds the lock."""
    await site.current.notice_aside()
    change.compare(site.current.version)
    before = site.current.document
    new = await beside(_edited, change, before)
    stamped = await _replace_file(site, change, before, new)
    reasons = await _carry_out(site, change, stamped, before, new)
    for reason in reasons:
        log.info("version %d needs a reload: %s", stamped.version, reason)
    if reasons or change.skip_reload:
        return Outcome(stamped.version, reasons=tuple(reasons))
    loaded = site.running.document is site.current.document and not site.running.doubt
    if site.pending and not loaded and (change.whole or header.same_text(before, new)):
        return Outcome(stamped.version, site.pending)
    return Outcome(stamped.version, live=True)


def _edited(change: Change, before: Document) -> Document:
    new = change.edit(before)
    if change.checked:
        refuse_rebound(before, new)
    return new


async def _file_locked(site: Site, change: FileChange) -> Outcome:
    """The configuration and its version stay; what a configuration that waits for its reload refers to waits with it."""
    told = await change_locked(site, change)
    reasons = told.reasons or ([PENDING] if told.awaited and site.pending and change.may_reload else ())
    return Outcome(site.current.version, reasons=tuple(reasons), live=not reasons)


async def _replace_file(site: Site, change: Change, before: Document, new: Document) -> Stamped:
    """From the new document to the published file."""
    current, base = site.current, site.current.version
    version = header.version_of(new) if change.keeps_version else base + 1
    banner = current.banner if change.banner is None else change.banner
    name = change.transaction_id or str(uuid.uuid4())
    stamped, draft = await asyncio.to_thread(current.prepare, new, version, banner, name)
    try:
        if change.checked:
            await _check(site, change, draft, stamped, base, name)
        await site.running.observe()
        if await current.notice_aside() or current.document is not before:
            raise Conflict(f"version in configuration file is {current.version}, given version is {base}")
        await asyncio.to_thread(_keep_former, site)
        if site.pending or not change.skip_reload:
            site.memory.owe(current.fingerprint, stamped_fingerprint(stamped))
        await current.install(stamped, draft, banner)
        if change.checked:
            site.accepted = current.fingerprint
    finally:
        draft.discard()
    if change.transaction_id:
        site.transactions.succeed(change.transaction_id)
        site.transactions.outdate_older(base)
    return stamped


async def _check(site: Site, change: Change, draft: Drafts, stamped: Stamped, base: int, name: str) -> None:
    """A refused text stays as a failed transaction."""
    try:
        await site.ask_haproxy(draft.checked(stamped.document, change.sent), name)
    except Refused:
        if change.kept:
            banner = site.current.banner if change.banner is None else change.banner
            failed = await beside(site.current.stamp, stamped.document, base, banner=banner)
            site.transactions.fail(name, failed.data)
        raise


def _keep_former(site: Site) -> None:
    """The backup, and the copy of what runs; neither stands in the way of a commit."""
    current = site.current
    if site.backups.number > 0:
        try:
            former = current.stamp(current.document, current.version, banner=current.banner).data
            for name, data in parts.split(former).items():
                site.backups.of(name).keep(current.version, data)
        except OSError as error:
            log.warning("no backup of version %d: %s: %s", current.version, error.filename, error.strerror)
    site.running.save_copy()


async def _carry_out(site: Site, change: Change, stamped: Stamped, before: Document, new: Document) -> list[Reason]:
    """Brings the process to the new document, or says why only a reload can."""
    unchanged = await beside(header.same_text, before, new)
    if change.skip_reload:
        await _skip(site, change, stamped, new)
        return []
    if unchanged and change.transaction_id:
        return [Reason("", 0, "", "a transaction without changes was committed")]
    if unchanged and change.force_reload and site.pending:
        return [Reason("", 0, "", "what was committed earlier waits for a reload")]
    if unchanged:
        _nothing_to_do(site, before, stamped)
        return []
    if change.whole and (drift := site.running.drift()):
        return drift
    return await _apply(site, stamped, before, may_wait=not change.force_reload)


def _nothing_to_do(site: Site, before: Document, stamped: Stamped) -> None:
    if site.running.document is before and not site.running.doubt:
        site.running.is_loaded(stamped.document, stamped_fingerprint(stamped))
    elif site.pending is None:
        site.memory.set(pending="")


async def _apply(site: Site, stamped: Stamped, before: Document, *, may_wait: bool) -> list[Reason]:
    """`may_wait`: a reload that is pending stays so; else it is carried out for this change."""
    running = site.running
    if site.reloads.awaiting:
        return [STOPPED]
    if running.document is None or running.reasons():
        return running.reasons()
    plan = await beside(_planned, site, running.document, stamped.document)
    if plan.reasons:
        return await _apply_ahead(site, stamped, before, plan.reasons) if site.pending and may_wait else list(plan.reasons)
    if refused := await _carried(site, plan, stamped.document):
        return refused
    running.is_loaded(stamped.document, stamped_fingerprint(stamped))
    return []


async def _apply_ahead(site: Site, stamped: Stamped, before: Document, reasons: Sequence[Reason]) -> list[Reason]:
    """The change alone, while what was committed earlier waits for its reload."""
    running = site.running
    assert running.document is not None
    wanted = await beside(ahead, running.document, before, stamped.document)
    plan = await beside(_planned, site, running.document, wanted) if wanted else None
    if wanted is None or plan is None or plan.reasons:
        return list(reasons)
    if refused := await _carried(site, plan, stamped.document):
        return refused
    running.is_ahead(wanted)
    return []


async def _carried(site: Site, plan: Plan, document: Document) -> list[Reason]:
    """Nothing where HAProxy took all commands. If not, nobody knows what it does now, and only a reload will do."""
    try:
        if plan.commands:
            await commands.apply(site.runtime, plan.commands)
            site.events.tell(ChangedLive([command.text for command in plan.commands]))
    except RuntimeFailure as error:
        site.running.is_in_doubt(f"a runtime command failed: {error}")
        place = plan.places.get(error.command) if isinstance(error, RuntimeRefused) else None
        return [reason_at(document, *place, site.running.doubt)] if place else site.running.reasons()
    return []


def _planned(site: Site, running: Document, new: Document) -> Plan:
    """What is in the file has to reach the process, whatever goes wrong while the way there is sought."""
    try:
        return site.plan(running, new, site.runtime.capabilities)
    except Exception:
        log.exception("no plan for version %d", site.current.version)
        return Plan(reasons=[Reason("", 0, "", "it could not be told what changes in the process")])


async def _skip(site: Site, change: Change, stamped: Stamped, new: Document) -> None:
    """No reload, whatever the text says; only what the client names is done."""
    running = site.running
    if site.pending is None:
        site.memory.set(pending="")
    known = None if running.doubt else running.document
    if change.actions:
        plan = await beside(_planned, site, known, stamped.document) if known else None
        running.is_in_doubt("runtime actions were sent along with a text that HAProxy has not loaded")
        await actions.run(site.runtime, change.actions)
        if plan and await _is_done(site, plan):
            running.is_loaded(stamped.document, stamped_fingerprint(stamped))
    elif known and header.same_text(known, new):
        running.is_loaded(stamped.document, stamped_fingerprint(stamped))


async def _is_done(site: Site, plan: Plan) -> bool:
    """Whether the process is seen to do already what a plan would make it do."""
    if plan.reasons or not all(command.check for command in plan.commands):
        return False
    try:
        await prove(site.runtime, [(command.text, command.check) for command in plan.commands if command.check])
    except RuntimeFailure:
        return False
    return True
