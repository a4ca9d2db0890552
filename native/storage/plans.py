"""How the worker gets to know what a stored file holds: what runs, and what HAProxy can take live, to steps or reasons. Pure."""

from collections.abc import Sequence

from native.apply.outcome import FilePlan, Reason
from native.config.file_references import Reference


def by_reload(used: Sequence[Reference], wanted: Sequence[Reference], why: str) -> FilePlan:
    """For what HAProxy reads at its start only. `used` are the lines that refer to it in what runs, `wanted` in what is committed."""
    reasons = [Reason(each.section, each.line, each.keyword, why) for each in used[:1]]
    return FilePlan((), reasons, bool(used), bool(wanted))
