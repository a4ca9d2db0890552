"""The feature `events`, and the encoding of events as server-sent events (WHATWG HTML, section 9.2)."""

from collections.abc import Iterator, Sequence

from dataplaneapi.api.feature import Feature
from dataplaneapi.api.responses import chunk
from dataplaneapi.api.services import Services
from haproxy_native.features.events.fanout import Fanout
from haproxy_native.features.events.sources import EventSources
from haproxy_native.features.events.stream import StreamEvent

HEARTBEAT, HEARTBEAT_SECONDS = b": heartbeat\n\n", 15.0
# The approximate size of the parts in which many events are sent, in bytes.
PIECE = 1 << 16


def encode(events: Sequence[StreamEvent]) -> bytes:
    """Return events as an HTTP chunk. If there are no events, the chunk has the heartbeat."""
    return chunk(b"".join(map(frame, events)) or HEARTBEAT)


def frames(events: Sequence[StreamEvent]) -> Iterator[bytes]:
    """Yield events as server-sent events, in parts of about PIECE bytes."""
    part = bytearray()
    for event in events:
        part += frame(event)
        if len(part) >= PIECE:
            yield bytes(part)
            part.clear()
    if part:
        yield bytes(part)


def frame(event: StreamEvent) -> bytes:
    """Encode one event as a server-sent event."""
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.id, event.type.encode(), event.body)


class EventsFeature(Feature):
    """The feature `events`.

    Its attribute `sources` publishes events, and its attribute `fanout` writes events to many subscribers at once.
    """

    def __init__(self, services: Services) -> None:
        self.sources = EventSources(services.engine, services.editor)
        self.runs = (self.sources,)
        self.fanout = Fanout(self.sources.stream, encode, HEARTBEAT_SECONDS)
