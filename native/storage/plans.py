"""How the worker gets to know what a stored file holds: what runs, and what HAProxy can take live, to steps or reasons. Pure."""

from collections.abc import Sequence
from dataclasses import replace

from native.apply.outcome import FilePlan, Reason
from native.config.file_references import Reference
from native.runtime.commands import Step


def of_map(used: Sequence[Reference], wanted: Sequence[Reference], fill: Step | None, why: str) -> FilePlan:
    """For a map that the worker has loaded where there is a `fill`. `why` it cannot be filled, empty where it can."""
    if fill and not why:
        return FilePlan([fill], (), True, bool(wanted))
    plan = by_reload(used, wanted, why)
    return plan if plan.used or not fill else replace(plan, used=True, reasons=[Reason("", 0, "", why)])


def by_reload(used: Sequence[Reference], wanted: Sequence[Reference], why: str) -> FilePlan:
    """For what HAProxy reads at its start only. `used` are the lines that refer to it in what runs, `wanted` in what is committed."""
    reasons = [Reason(each.section, each.line, each.keyword, why) for each in used[:1]]
    return FilePlan((), reasons, bool(used), bool(wanted))
