"""Events as they are written: server-sent events (WHATWG HTML, section 9.2)."""

from collections.abc import Iterator, Sequence

from dataplaneapi.api.responses import chunk
from haproxy_native.features.events.past import StreamEvent

HEARTBEAT, HEARTBEAT_SECONDS = b": heartbeat\n\n", 15.0
# Bytes that are sent at once.
PIECE = 1 << 16


def form(events: Sequence[StreamEvent]) -> bytes:
    """Events, or the comment in their place, as a chunk of the answer."""
    return chunk(b"".join(map(frame, events)) or HEARTBEAT)


def frames(events: Sequence[StreamEvent]) -> Iterator[bytes]:
    """Yields the frames in parts of about PIECE bytes."""
    part = bytearray()
    for event in events:
        part += frame(event)
        if len(part) >= PIECE:
            yield bytes(part)
            part.clear()
    if part:
        yield bytes(part)


def frame(event: StreamEvent) -> bytes:
    return b"id: %d\nevent: %b\ndata: %b\n\n" % (event.id, event.type.encode(), event.body)
