"""The stream of events: changes, reloads, states and counters as they come."""

from types import TracebackType
from typing import Self

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from dataplaneapi.features.events.frames import HEARTBEAT_SECONDS, form
from haproxy_native.features.events.events import EventSources
from haproxy_native.features.events.fanout import Fanout


class EventsFeature(Feature):
    """`sources` publish events, `fanout` writes them to many subscribers at once."""

    def __init__(self, services: Services) -> None:
        super().__init__(services)
        self.sources = EventSources(services.engine, services.editor)
        self.fanout = Fanout(self.sources.stream, form, HEARTBEAT_SECONDS)

    async def __aenter__(self) -> Self:
        await self.sources.__aenter__()
        return self

    async def __aexit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        await self.sources.__aexit__(kind, error, trace)
