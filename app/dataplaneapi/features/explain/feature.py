"""Where a request would go, asked of a HAProxy of its own that has the same rules."""

from types import TracebackType

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from haproxy_native.features.explain.explain import Explain


class ExplainFeature(Feature):
    """`explain` answers questions."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.explain = Explain(services.engine, services.editor)

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.explain.__aexit__(kind, error, trace)
