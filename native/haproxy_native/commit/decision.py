"""Decides how a change is applied to the process: by runtime commands, or by a reload, with the reasons. Plans and commits share it.

HAProxy refuses some commands for what only the worker knows: the weight that a server began with, whether it had checks then. So the
servers of each backend whose lines differ are read before it, by one `show servers state BACKEND`; also those that a change claims, whose
lines need not differ (`claimed`). A write that touches no server reads nothing.
"""

import logging
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from haproxy_native.beside import beside
from haproxy_native.commit.context import CommitContext
from haproxy_native.errors import RuntimeAbsent, RuntimeRefused
from haproxy_native.planning.ahead import ahead
from haproxy_native.planning.observed import Claimed, Observed
from haproxy_native.planning.outcome import Plan, Reason, reason_at
from haproxy_native.planning.plan import observable
from haproxy_native.runtime.verification import server_limits, server_rows
from haproxy_native.text.document import Document

log = logging.getLogger(__name__)
STOPPED = Reason("", 0, "", "HAProxy does not run")


class Decision(NamedTuple):
    """`wanted`: the document that the worker does after the commands, which may be ahead of what waits for a reload; None if unchanged."""

    plan: Plan
    wanted: Document | None = None

    @property
    def reasons(self) -> Sequence[Reason]:
        return self.plan.reasons


async def decide(
    context: CommitContext,
    before: Document,
    new: Document,
    *,
    whole: bool = False,
    may_wait: bool = True,
    claimed: Claimed = frozenset(),
) -> Decision:
    """Decide how to apply `new`, which was made from `before`, to the worker in service.

    `whole`: all of it is to be in effect, also what servers of the process alone contradict. `may_wait`: the change may be live although
    other changes wait for a reload.
    """
    running = context.running
    if reasons := [*(running.drift() if whole else ()), *([STOPPED] if context.reloads.awaiting else running.reasons())]:
        return Decision(Plan(reasons=reasons))
    assert running.document is not None
    plan = await planned(context, running.document, new, claimed)
    if not (plan.reasons and context.has_unloaded and may_wait):
        return Decision(plan)
    if (wanted := await beside(ahead, running.document, before, new)) is not None:
        alone = await planned(context, running.document, wanted, claimed)
        if not alone.reasons:
            return Decision(alone, wanted)
    return Decision(plan)


async def planned(context: CommitContext, running: Document, new: Document, claimed: Claimed = frozenset()) -> Plan:
    """Plan as `plan_observed` does; a worker that does not answer is a reason to reload."""
    try:
        return await plan_observed(context, running, new, claimed)
    except RuntimeAbsent as error:
        return Plan(reasons=[Reason("", 0, "", f"HAProxy does not tell what its servers do: {error}")])


async def plan_observed(context: CommitContext, running: Document, new: Document, claimed: Claimed = frozenset()) -> Plan:
    """Plan from one document to another, for a process that does the first one, by what its worker shows. Raises RuntimeAbsent."""
    backends = await beside(observable, running, new, claimed)
    if not backends:
        return await _asked(context, await beside(_plan, context, running, new, None), new)
    limits = await server_limits(context.runtime, {claim.backend for claim in claimed}) if claimed else {}
    rows = await server_rows(context.runtime, backends)
    kept = context.observers.kept_members() if claimed else {}
    plan = await beside(_plan, context, running, new, Observed(rows, limits, claimed, kept))
    return await _asked(context, plan, new)


async def _asked(context: CommitContext, plan: Plan, new: Document) -> Plan:
    """Return the plan, or the reasons of HAProxy if it says that it would refuse a command."""
    for command in plan.commands if not plan.reasons else ():
        if command.asks:
            try:
                await replace(command, patience=0.0).carry_out(context.runtime)
            except RuntimeRefused as error:
                place = plan.places.get(command.text)
                why = f"HAProxy would refuse a command: {error}"
                return Plan(reasons=[reason_at(new, *place, why, error.remedy) if place else Reason("", 0, "", why)])
            except RuntimeAbsent as error:
                return Plan(reasons=[Reason("", 0, "", f"HAProxy does not answer a question: {error}")])
    return plan


def _plan(context: CommitContext, running: Document, new: Document, observed: Observed | None) -> Plan:
    """Plan a reload if planning itself fails, because the file may have been replaced already."""
    try:
        return context.plan(running, new, context.runtime.capabilities, observed)
    except Exception:
        log.exception("no plan for version %d", context.current.version)
        return Plan(reasons=[Reason("", 0, "", "the change of the process could not be planned")])


async def reasons_to_reload(context: CommitContext, before: Document, new: Document, claimed: Claimed = frozenset()) -> Sequence[Reason]:
    """Return why going from one document to another needs a reload; empty if runtime commands are enough."""
    return (await planned(context, before, new, claimed)).reasons
