"""Brings the process to a document that was committed: by runtime commands, or by the reasons for a reload. The caller holds the locks."""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass

from haproxy_native.beside import beside
from haproxy_native.commit.change import Change, Member, Reload, Validation
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.decision import Decision, decide, plan_observed, planned
from haproxy_native.commit.events import ChangedLive
from haproxy_native.commit.state_row import fingerprint, stamped_fingerprint, text_of
from haproxy_native.editing import header
from haproxy_native.editing.header import Stamped
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import RuntimeAbsent, RuntimeFailure, RuntimeRefused
from haproxy_native.planning.ahead import ahead
from haproxy_native.planning.needs_check import needs_check
from haproxy_native.planning.outcome import Plan, Reason, reason_at
from haproxy_native.process_state import (
    CommandsProved,
    CommandsReverted,
    CommandsSent,
    Doubted,
    Load,
    NoReloadRequired,
    TargetChanged,
    Text,
)
from haproxy_native.runtime import actions, commands
from haproxy_native.runtime.verification import prove
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Applied:
    """The commands that HAProxy has taken, or the reasons why only a reload applies the change; `members` are set back either way."""

    reasons: Sequence[Reason] = ()
    commands: Sequence[str] = ()
    members: Sequence[Member] = ()


def corrected(plan: Plan) -> tuple[Member, ...]:
    """Return what a plan sets back that others have changed in the process; of a whole server all that it shows."""
    return tuple(
        Member(spelled("backend", each.backend, "server", each.server), each.member, each.value, each.declared) for each in plan.corrected
    )


async def apply(context: CommitContext, change: Change, stamped: Stamped, before: Document, new: Document) -> Applied:
    """Applies the change to the process."""
    unchanged = await beside(header.same_text, before, new)
    if change.reload is Reload.NONE:
        await _skip(context, change, stamped, new)
        return Applied()
    if unchanged and change.transaction_id and not change.files:
        return Applied([Reason("", 0, "", "a transaction without changes was committed")])
    if unchanged and change.reload is Reload.NOW and context.pending:
        return Applied([Reason("", 0, "", "what was committed earlier waits for a reload")])
    if unchanged and await is_done(context, change, stamped.document):
        _nothing_to_do(context, before, stamped)
        return Applied()
    return await _apply_live(context, change, stamped, before)


async def why_not_live(context: CommitContext, change: Change, stamped: Stamped, before: Document) -> Sequence[Reason]:
    """What `apply` would return, without applying anything."""
    if await beside(header.same_text, before, stamped.document):
        return []
    return (await _decided(context, change, before, stamped.document)).reasons


async def is_done(context: CommitContext, change: Change, new: Document) -> bool:
    """Return whether a change that leaves the text as it is leaves nothing to do in the process either.

    Nothing is to be done beside no worker, which loads the file when it starts, and where a reload comes anyway.
    """
    running = context.running
    if not change.claimed or context.has_unloaded or context.reloads.awaiting or not running.state.answers:
        return True
    if running.document is None or running.reasons() or (change.is_whole and running.drift()):
        return False
    try:
        plan = await plan_observed(context, running.document, new, change.claimed)
    except RuntimeAbsent:
        return True
    return not (plan.reasons or plan.commands)


async def _decided(context: CommitContext, change: Change, before: Document, new: Document) -> Decision:
    return await decide(context, before, new, whole=change.is_whole, may_wait=change.reload is not Reload.NOW, claimed=change.claimed)


def _nothing_to_do(context: CommitContext, before: Document, stamped: Stamped) -> None:
    if context.running.document is before and not context.running.is_doubtful:
        context.running.step(CommandsProved(text_of(stamped), is_file=True))
    elif context.pending is None:
        context.running.step(NoReloadRequired())


async def _apply_live(context: CommitContext, change: Change, stamped: Stamped, before: Document) -> Applied:
    """Runtime commands, or the reasons for a reload."""
    plan, wanted = await _decided(context, change, before, stamped.document)
    if plan.commands and not plan.reasons:
        context.running.step(CommandsSent(stamped_fingerprint(stamped)))
        await context.running.flush()
    if reasons := plan.reasons or await _send(context, plan, stamped.document):
        return Applied(reasons, members=corrected(plan))
    context.running.step(CommandsProved(await _text(wanted) if wanted else text_of(stamped), is_file=wanted is None))
    if context.load:
        await _want(context, context.load, before, stamped.document)
    return Applied(commands=plan.texts, members=corrected(plan))


class Untaken(Exception):
    """The running HAProxy has not taken the commands of a change that was not checked."""


def may_judge(context: CommitContext, change: Change, before: Document) -> bool:
    """True if HAProxy does exactly what `before` says, and so has accepted that, and takes commands now."""
    running = context.running
    if change.validation is not Validation.IF_NEEDED or change.reload is not Reload.AUTO or context.check.command:
        return False
    if context.current.document is not before or not running.is_current or running.state.target or running.reasons() or running.drift():
        return False
    return not (context.has_unloaded or context.reloads.awaiting)


async def plan_without_check(context: CommitContext, change: Change, before: Document, new: Document) -> Plan | None:
    """The commands by which the running HAProxy can judge a change; None where `haproxy -c` has to."""
    if not may_judge(context, change, before):
        return None
    if await beside(needs_check, before, new):
        return None
    plan = await planned(context, before, new, change.claimed)
    return plan if plan.commands and not plan.reasons else None


@asynccontextmanager
async def applied(context: CommitContext, plan: Plan, before: Document, stamped: Stamped) -> AsyncIterator[None]:
    """Sends the commands of a plan that was not checked, and runs its body, which replaces the file; if that raises, takes them back.

    Raises Untaken where HAProxy has not taken them. Where it is not known what the process does, a reload is scheduled.
    """
    running = context.running
    running.step(CommandsSent(stamped_fingerprint(stamped)))
    try:
        await running.flush()
        await commands.apply(context.runtime, plan.commands)
        await context.observe()
        if not running.is_trying:
            raise Untaken("HAProxy was restarted meanwhile")
        yield
    except Exception as error:
        await _take_back(context, plan, before, stamped.document, error)
        if isinstance(error, RuntimeFailure):
            raise Untaken(_why(error)) from error
        raise
    running.step(CommandsProved(text_of(stamped), is_file=True))
    context.events.tell(ChangedLive(plan.texts))


async def _take_back(context: CommitContext, plan: Plan, before: Document, new: Document, error: Exception) -> None:
    """Takes the commands back as far as HAProxy allows; schedules a reload if a re-read differs from before, or if no worker answers."""
    running = context.running
    if not running.is_trying:
        return
    back = await planned(context, new, before)
    try:
        for command in reversed(back.commands):
            with suppress(RuntimeRefused):
                await context.runtime.ask(command.text)
        if await _is_done(context, back):
            return running.step(CommandsReverted())
    except RuntimeFailure as failure:
        log.warning("a change could not be taken back: %s", failure)
    why = _why(error) if isinstance(error, RuntimeFailure) else f"a change could not be taken back: {error}"
    running.step(Doubted(why, _place(plan, new, error, why)))
    context.reloads.schedule(running.reasons())


async def is_live(context: CommitContext, load: Load, change: Change, before: Document, new: Document) -> bool:
    """True if the worker in service and the one that is being loaded can take a change without a reload."""
    running = context.running
    if context.current.document is not before:
        # Overtaken, as the publication tells.
        return True
    if change.reload is not Reload.AUTO or change.is_whole or running.document is None or running.reasons():
        return False
    if await beside(header.same_text, before, new) or await beside(ahead, load.wanted, before, new) is None:
        return False
    wanted = new if running.document is before else await beside(ahead, running.document, before, new)
    plan = await planned(context, running.document, wanted) if wanted else None
    return plan is not None and not plan.reasons


async def _want(context: CommitContext, load: Load, before: Document, new: Document) -> None:
    """A change was made live in the worker in service; the one that is being loaded has to do the same."""
    wanted = await beside(ahead, load.wanted, before, new)
    assert wanted is not None
    context.running.step(TargetChanged(wanted))
    await context.running.flush()


async def apply_missing(context: CommitContext, wanted: Document) -> list[Reason]:
    """Makes live in the worker in service what was live in its predecessor; returns the reasons where only a reload can.

    The caller holds the lock.
    """
    running = context.running
    if reasons := running.reasons():
        return reasons
    assert running.document is not None
    plan = await planned(context, running.document, wanted)
    if plan.reasons or await _is_done(context, plan):
        refused: Sequence[Reason] = plan.reasons
    else:
        refused = await _send(context, plan, wanted)
    if not refused:
        running.step(CommandsProved(await _text(wanted)))
    return list(refused)


async def _send(context: CommitContext, plan: Plan, document: Document) -> list[Reason]:
    """Sends the commands of a plan. After a failure the state of the worker is unknown, and the reasons for a reload are returned."""
    try:
        if plan.commands:
            await commands.apply(context.runtime, plan.commands)
            context.events.tell(ChangedLive(plan.texts))
    except RuntimeFailure as error:
        why = _why(error)
        context.running.step(Doubted(why, _place(plan, document, error, why)))
        return context.running.reasons()
    return []


def _why(error: Exception) -> str:
    return f"a runtime command failed: {error}"


def _place(plan: Plan, document: Document, error: Exception, why: str) -> Reason | None:
    if isinstance(error, RuntimeRefused) and (place := plan.places.get(error.command)):
        return reason_at(document, *place, why, error.remedy)
    return None


async def _skip(context: CommitContext, change: Change, stamped: Stamped, new: Document) -> None:
    """Sends the runtime actions that the client named, and nothing else. Raises RuntimeFailure."""
    running = context.running
    if context.pending is None:
        running.step(NoReloadRequired())
    known = None if running.is_doubtful else running.document
    if change.text and change.text.actions:
        plan = await planned(context, known, stamped.document) if known else None
        running.step(Doubted("runtime actions were sent along with a text that HAProxy has not loaded"))
        await actions.run(context.runtime, change.text.actions)
        if plan and await _is_done(context, plan):
            running.step(CommandsProved(text_of(stamped), is_file=True))
    elif known and header.same_text(known, new):
        running.step(CommandsProved(text_of(stamped), is_file=True))


async def _text(document: Document) -> Text:
    """A document that is in no file."""
    return await beside(lambda: Text(document, fingerprint(document.data)))


async def _is_done(context: CommitContext, plan: Plan) -> bool:
    """True if a re-read shows that the process already does what the plan would make it do."""
    if plan.reasons or not all(command.check for command in plan.commands):
        return False
    try:
        await prove(context.runtime, [(command.text, command.check) for command in plan.commands if command.check])
    except RuntimeFailure:
        return False
    return True
