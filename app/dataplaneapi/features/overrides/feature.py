"""What was changed of servers in the process alone, kept over reloads."""

from types import TracebackType
from typing import Self

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from haproxy_native.features.overrides.overrides import Overrides


class OverridesFeature(Feature):
    """`overrides` makes them again in each new worker."""

    only_changes = True

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.overrides = Overrides(services.engine, services.editor)
        services.followers.append(self.overrides)

    async def __aenter__(self) -> Self:
        await self.overrides.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.overrides.__aexit__(kind, error, trace)
