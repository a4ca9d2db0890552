"""What a change has to pass beside HAProxy's own check: whatever observers ask of it, without the locks."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from haproxy_native.commit.change import Candidate
from haproxy_native.commit.context import CommitContext
from haproxy_native.errors import BreaksTests, Untested


@dataclass(frozen=True)
class GateVerdict:
    """What the gate says of a plan: `failed` and `failed_before` as in BreaksTests; `untested`: why that is not known."""

    failed: Sequence[Any] = ()
    failed_before: Sequence[str] = ()
    untested: str = ""


async def verdict(context: CommitContext, candidate: Candidate) -> GateVerdict | None:
    """Returns the gate's verdict; None if it does not judge changes of this author."""
    if not context.observers.judges(candidate.author):
        return None
    try:
        return GateVerdict(failed_before=await context.observers.judge(candidate))
    except BreaksTests as error:
        return GateVerdict(error.failed, error.failed_before)
    except Untested as error:
        return GateVerdict(untested=str(error))


async def pass_change(context: CommitContext, candidate: Candidate) -> None:
    """Raises what the gate does.

    It is asked to the end even where another change comes first: of what it has let pass it remembers what matters, so that changes which
    change nothing of that do not hold this one up.
    """
    if context.observers.judges(candidate.author):
        wrong = await context.observers.judge(candidate)
        if candidate.author.request:
            candidate.author.request.failing_tests = tuple(wrong)
