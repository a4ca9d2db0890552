"""`RoutingTests`: those that are kept, and runs of them."""

from collections.abc import Sequence

from haproxy_native.commit.change import Candidate
from haproxy_native.features.explain.explain import Explain
from haproxy_native.features.routing_tests.case import Case
from haproxy_native.features.routing_tests.run import Run, run
from haproxy_native.features.routing_tests.table import TestTable


class RoutingTests:
    """`kept` are those that are kept."""

    def __init__(self, kept: TestTable, explain: Explain) -> None:
        self.kept, self._explain = kept, explain

    async def run(self, candidate: Candidate, cases: Sequence[Case], *, is_asked: bool = False) -> Run:
        """Run cases. `is_asked` as in `shadow_of`. Raises Forbidden, NoShadow, Refused and CheckImpossible."""
        async with self._explain.shadow_of(candidate, is_asked=is_asked) as asker:
            return await run(candidate.after, asker, cases)
