"""The stream of events: changes, reloads, states and counters as they come."""

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.services import Services
from dataplaneapi.features.events.frames import HEARTBEAT_SECONDS, form
from haproxy_native.features.events.events import EventSources
from haproxy_native.features.events.fanout import Fanout


class EventsFeature(Feature):
    """`sources` publish events, `fanout` writes them to many subscribers at once."""

    def __init__(self, services: Services) -> None:
        self.sources = EventSources(services.engine, services.editor)
        self.runs = (self.sources,)
        self.fanout = Fanout(self.sources.stream, form, HEARTBEAT_SECONDS)
