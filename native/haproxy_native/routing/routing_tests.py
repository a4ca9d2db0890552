"""`RoutingTests`: those that are kept, and runs of them."""

from collections.abc import Sequence

from haproxy_native.explain.explain import Explain
from haproxy_native.routing.case import Case
from haproxy_native.routing.files import TestFiles
from haproxy_native.routing.run import Run, run
from haproxy_native.shadow.files import NONE, Files
from haproxy_native.text.document import Document


class RoutingTests:
    """`files` are those that are kept."""

    def __init__(self, files: TestFiles, explain: Explain) -> None:
        self.files, self._explain = files, explain

    async def run(self, document: Document, cases: Sequence[Case], files: Files = NONE, *, check: bool = False) -> Run:
        """`files`: where those stand now that are to be looked for at these paths, None for those that are gone. `check`: HAProxy
        is not known to take the text.

        Raises NoShadow, Refused and CheckImpossible.
        """
        async with self._explain.shadow_of(document, files, check=check) as asker:
            return await run(document, asker, cases)
