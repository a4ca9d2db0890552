"""Decide how a change is applied to the process, by runtime commands or by a reload with its reasons, and apply it.

Previews and commits use the same function, `decide`. HAProxy refuses some commands for reasons that only the worker knows, such as the
weight that a server started with, or whether it had health checks then. So `decide` first reads the servers of each backend with changed
lines, by one `show servers state BACKEND`. It also reads the servers that a change claims, even if their lines do not change
(`Change.claimed`). For a change that concerns no server it reads nothing.

Functions that change the process are called under the locks.
"""

import logging
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import replace

from haproxy_native.commit.change import Change, MemberChange, Reload, Validation
from haproxy_native.commit.context import CommitContext
from haproxy_native.commit.current import fingerprint, stamped_fingerprint, text_of
from haproxy_native.commit.events import ChangedLive
from haproxy_native.editing import header
from haproxy_native.editing.header import Stamped
from haproxy_native.editing.object_names import spelled
from haproxy_native.errors import RuntimeAbsent, RuntimeFailure, RuntimeRefused
from haproxy_native.planning import plan as planning
from haproxy_native.planning.needs_check import needs_check
from haproxy_native.planning.observed import Claimed, Observed
from haproxy_native.planning.outcome import Plan, Reason, reason_at
from haproxy_native.planning.plan import observable, with_ready_change
from haproxy_native.process_state import (
    CommandsProved,
    CommandsReverted,
    CommandsSent,
    ConfigurationText,
    Doubted,
    Load,
    NoReloadRequired,
    TargetChanged,
)
from haproxy_native.runtime import commands
from haproxy_native.runtime.verification import server_limits, server_rows, verify_checks
from haproxy_native.text.document import Document
from haproxy_native.threads import run_in_thread, run_in_thread_if_large

log = logging.getLogger(__name__)
STOPPED = Reason("HAProxy does not run")
SILENT = Reason("HAProxy does not answer")
COMMAND_FAILED = "a runtime command failed"
RELOAD_REQUESTED = Reason("a reload was requested")


async def decide(
    context: CommitContext,
    before: Document,
    new: Document,
    *,
    whole: bool = False,
    may_wait: bool = True,
    claimed: Claimed = frozenset(),
) -> Plan:
    """Decide how to apply the change from `before` to `new` to the worker in service.

    `whole`: the process must run all of `new`, so values that were changed in the process alone need a reload as well. `may_wait`: whether
    other changes may wait for a reload while commands apply this change.
    """
    running = context.running
    awaited = [SILENT if context.runtime.is_silent else STOPPED] if context.reloads.awaiting else []
    if reasons := [*(running.drift() if whole else ()), *(awaited or running.reasons())]:
        return Plan(reasons=reasons)
    assert running.document is not None
    plan = await plan_change(context, running.document, new, claimed)
    if not (plan.reasons and context.has_unloaded and may_wait):
        return plan
    if (target := await run_in_thread_if_large((before, new), with_ready_change, running.document, before, new)) is not None:
        alone = await plan_change(context, running.document, target, claimed)
        if not alone.reasons:
            return replace(alone, target=target)
    return plan


async def plan_change(context: CommitContext, running: Document, new: Document, claimed: Claimed = frozenset()) -> Plan:
    """Plan how to bring a process from `running` to `new`. If the worker does not answer, the plan is a reload."""
    try:
        return await plan_observed(context, running, new, claimed)
    except RuntimeAbsent as error:
        return Plan(reasons=[Reason(f"HAProxy does not report the state of its servers: {error}")])


async def plan_observed(context: CommitContext, running: Document, new: Document, claimed: Claimed = frozenset()) -> Plan:
    """Plan how to bring a process from `running` to `new`, by the states of servers that the worker reports. Raises RuntimeAbsent."""
    backends = await run_in_thread_if_large((running, new), observable, running, new, claimed)
    if not backends:
        return await _probe(context, await run_in_thread_if_large((running, new), _plan, context, running, new, None), new)
    limits = await server_limits(context.runtime, {claim.backend for claim in claimed}) if claimed else {}
    rows = await server_rows(context.runtime, backends)
    observed = Observed(rows, limits, claimed, context.overridden_members(claimed))
    plan = await run_in_thread_if_large((running, new), _plan, context, running, new, observed)
    return await _probe(context, plan, new)


async def _probe(context: CommitContext, plan: Plan, new: Document) -> Plan:
    """Return the plan or, if HAProxy reports that it would refuse a command, a plan to reload."""
    for command in plan.commands if not plan.reasons else ():
        if command.asks:
            try:
                await replace(command, patience=0.0).execute(context.runtime)
            except RuntimeRefused as error:
                place = plan.places.get(command.text)
                why = f"HAProxy would refuse a command: {error}"
                return Plan(reasons=[reason_at(new, *place, why, error.remedy) if place else Reason(why)])
            except RuntimeAbsent as error:
                return Plan(reasons=[Reason(f"HAProxy does not answer a question: {error}")])
    return plan


def _plan(context: CommitContext, running: Document, new: Document, observed: Observed | None) -> Plan:
    """Plan the change. If planning fails unexpectedly, return a plan to reload, because the file may have been replaced already."""
    try:
        return planning.plan(
            running,
            new,
            context.runtime.capabilities,
            preceded=bool(context.check.before),
            stored=context.find_entry,
            observed=observed,
        )
    except Exception:
        log.exception("no plan for version %d", context.current.version)
        return Plan(reasons=[Reason("the change of the process could not be planned")])


async def reasons_to_reload(context: CommitContext, before: Document, new: Document, claimed: Claimed = frozenset()) -> Sequence[Reason]:
    """Return why the change from `before` to `new` needs a reload; empty if runtime commands are enough."""
    return (await plan_change(context, before, new, claimed)).reasons


def corrected_members(plan: Plan) -> tuple[MemberChange, ...]:
    """Return the members of claimed servers that others have changed in the process and that a plan resets."""
    return tuple(
        MemberChange(spelled("backend", each.backend, "server", each.server), each.member, each.value, each.declared)
        for each in plan.corrected
    )


async def apply(context: CommitContext, change: Change, stamped: Stamped, before: Document, new: Document) -> Plan:
    """Apply a change to the process by commands, or return a plan with the reasons for a reload. The file already contains the text."""
    unchanged = await run_in_thread_if_large((before, new), header.same_text, before, new)
    if change.reload is Reload.NONE:
        await _send_actions(context, change, stamped, new)
        return Plan()
    if unchanged and change.transaction_id and not change.files:
        return Plan(reasons=[Reason("a transaction without changes was committed")])
    if unchanged and change.reload is Reload.NOW and context.pending:
        return Plan(reasons=[Reason("an earlier commit waits for a reload")])
    running = context.running
    if unchanged and await is_done(context, change, stamped.document):
        if running.document is before and not running.is_doubtful:
            running.step(CommandsProved(text_of(stamped), is_file=True))
        elif context.pending is None:
            running.step(NoReloadRequired())
        return Plan()
    plan = await _decide_change(context, change, before, stamped.document)
    if plan.commands and not plan.reasons:
        running.step(CommandsSent(stamped_fingerprint(stamped)))
        await running.flush()
    if reasons := plan.reasons or await _send(context, plan, stamped.document):
        return replace(plan, reasons=reasons)
    loaded = await _with_fingerprint(plan.target) if plan.target else text_of(stamped)
    running.step(CommandsProved(loaded, is_file=plan.target is None))
    if load := context.load:
        # The worker that is being started needs this change as well.
        target = await run_in_thread(with_ready_change, load.wanted, before, stamped.document)
        assert target is not None
        running.step(TargetChanged(target))
        await running.flush()
    return plan


async def why_not_live(context: CommitContext, change: Change, stamped: Stamped, before: Document) -> Sequence[Reason]:
    """Return the reasons for a reload that `apply` would return, without applying anything."""
    if await run_in_thread_if_large((before, stamped.document), header.same_text, before, stamped.document):
        return []
    return (await _decide_change(context, change, before, stamped.document)).reasons


async def is_done(context: CommitContext, change: Change, new: Document) -> bool:
    """Return whether a change that leaves the text as it is needs neither commands nor a reload.

    This is true if a reload is pending, or if no worker answers, because a worker loads the file when it starts.
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


async def _decide_change(context: CommitContext, change: Change, before: Document, new: Document) -> Plan:
    return await decide(context, before, new, whole=change.is_whole, may_wait=change.reload is not Reload.NOW, claimed=change.claimed)


class NotAccepted(Exception):
    """The running HAProxy has not accepted the commands of a change that was not checked."""


def may_judge(context: CommitContext, change: Change, before: Document) -> bool:
    """Return whether HAProxy's answers to commands can replace a check: HAProxy runs exactly `before`, and accepts commands."""
    running = context.running
    if change.validation is not Validation.IF_NEEDED or change.reload is not Reload.AUTO or context.check.command:
        return False
    if context.current.document is not before or not running.is_current or running.state.target or running.reasons() or running.drift():
        return False
    return not (context.has_unloaded or context.reloads.awaiting)


async def plan_without_check(context: CommitContext, change: Change, before: Document, new: Document) -> Plan | None:
    """Return the plan whose commands let the running HAProxy judge a change; None if `haproxy -c` has to check the change."""
    if not may_judge(context, change, before):
        return None
    if await run_in_thread_if_large((before, new), needs_check, before, new):
        return None
    plan = await plan_change(context, before, new, change.claimed)
    return plan if plan.commands and not plan.reasons else None


@asynccontextmanager
async def sending_commands(context: CommitContext, plan: Plan, before: Document, stamped: Stamped) -> AsyncIterator[None]:
    """Send the commands of an unchecked plan, then run the body, which replaces the file. If the body raises, revert the commands.

    Raises NotAccepted if HAProxy has refused a command. Schedules a reload if reverting leaves the process in an unknown state.
    """
    running = context.running
    running.step(CommandsSent(stamped_fingerprint(stamped)))
    try:
        await running.flush()
        await commands.apply(context.runtime, plan.commands)
        await context.observe()
        if not running.is_trying:
            raise NotAccepted("HAProxy was restarted meanwhile")
        yield
    except Exception as error:
        await _revert_commands(context, plan, before, stamped.document, error)
        if isinstance(error, RuntimeFailure):
            raise NotAccepted(f"{COMMAND_FAILED}: {error}") from error
        raise
    running.step(CommandsProved(text_of(stamped), is_file=True))
    context.events.publish(ChangedLive(plan.texts))


async def _revert_commands(context: CommitContext, plan: Plan, before: Document, new: Document, error: Exception) -> None:
    """Revert the commands of a plan. Schedule a reload if the worker does not answer, or does not confirm its former state."""
    running = context.running
    if not running.is_trying:
        return
    back = await plan_change(context, new, before)
    try:
        for command in reversed(back.commands):
            with suppress(RuntimeRefused):
                await context.runtime.execute(command.text)
        if await _is_done(context, back):
            return running.step(CommandsReverted())
    except RuntimeFailure as failure:
        log.warning("reverting the commands of a change failed: %s", failure)
    if isinstance(error, RuntimeFailure):
        running.step(Doubted(_failure_reason(plan, new, error)))
    else:
        running.step(Doubted(Reason(f"the commands of a change could not be reverted: {error}")))
    context.reloads.schedule(running.reasons())


async def is_live(context: CommitContext, load: Load, change: Change, before: Document, new: Document) -> bool:
    """Return whether a change needs no reload: neither the worker in service nor the worker that is being started needs one."""
    running = context.running
    if context.current.document is not before:
        # The publication raises Overtaken.
        return True
    if change.reload is not Reload.AUTO or change.is_whole or running.document is None or running.reasons():
        return False
    if await run_in_thread(header.same_text, before, new) or await run_in_thread(with_ready_change, load.wanted, before, new) is None:
        return False
    wanted = new if running.document is before else await run_in_thread(with_ready_change, running.document, before, new)
    plan = await plan_change(context, running.document, wanted) if wanted else None
    return plan is not None and not plan.reasons


async def apply_missing(context: CommitContext, target: Document) -> list[Reason]:
    """Send commands to a new worker so that it runs `target`, as the previous worker did. The caller holds the locks.

    Return the reasons for a reload; empty if the commands were enough.
    """
    running = context.running
    if reasons := running.reasons():
        return reasons
    assert running.document is not None
    plan = await plan_change(context, running.document, target)
    if plan.reasons or await _is_done(context, plan):
        refused: Sequence[Reason] = plan.reasons
    else:
        refused = await _send(context, plan, target)
    if not refused:
        running.step(CommandsProved(await _with_fingerprint(target)))
    return list(refused)


async def _send(context: CommitContext, plan: Plan, document: Document) -> list[Reason]:
    """Send the commands of a plan. Return the reasons for a reload; empty if HAProxy has accepted all commands.

    If a command fails, the state of the worker is unknown.
    """
    try:
        if plan.commands:
            await commands.apply(context.runtime, plan.commands)
            context.events.publish(ChangedLive(plan.texts))
    except RuntimeFailure as error:
        context.running.step(Doubted(_failure_reason(plan, document, error)))
        return context.running.reasons()
    return []


def _failure_reason(plan: Plan, document: Document, error: RuntimeFailure) -> Reason:
    """Return the reason for a reload after a command has failed, with the line of the command if HAProxy has refused it."""
    why = f"{COMMAND_FAILED}: {error}"
    if isinstance(error, RuntimeRefused) and (place := plan.places.get(error.command)):
        return reason_at(document, *place, why, error.remedy)
    return Reason(why)


async def _send_actions(context: CommitContext, change: Change, stamped: Stamped, new: Document) -> None:
    """Send the runtime actions that the client has named, and nothing else. Raises RuntimeFailure."""
    running = context.running
    if context.pending is None:
        running.step(NoReloadRequired())
    known = None if running.is_doubtful else running.document
    if change.text and change.text.actions:
        plan = await plan_change(context, known, stamped.document) if known else None
        running.step(Doubted(Reason("runtime actions were sent along with a text that HAProxy has not loaded")))
        await commands.run_actions(context.runtime, change.text.actions)
        if plan and await _is_done(context, plan):
            running.step(CommandsProved(text_of(stamped), is_file=True))
    elif known and header.same_text(known, new):
        running.step(CommandsProved(text_of(stamped), is_file=True))


async def _with_fingerprint(document: Document) -> ConfigurationText:
    """Return a document that is not in the file, together with its fingerprint."""
    return await run_in_thread(lambda: ConfigurationText(document, fingerprint(document.data)))


async def _is_done(context: CommitContext, plan: Plan) -> bool:
    """Return whether the process shows that the commands of a plan are in effect already."""
    if plan.reasons or not all(command.check for command in plan.commands):
        return False
    try:
        await verify_checks(context.runtime, [(command.text, command.check) for command in plan.commands if command.check])
    except RuntimeFailure:
        return False
    return True
