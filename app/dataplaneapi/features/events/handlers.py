"""The operations that stream events, and that return the counters of the last hour."""

import asyncio
import time
from collections.abc import AsyncGenerator
from functools import lru_cache, partial

from dataplaneapi.api.access import reader
from dataplaneapi.api.call import Call, ReadCall
from dataplaneapi.api.errors import ApiError
from dataplaneapi.api.responses import Header, HeaderName, Response, StreamResponse, json_response
from dataplaneapi.features.events.feature import HEARTBEAT, HEARTBEAT_SECONDS, EventsFeature, frame, frames
from dataplaneapi.server.connection import WritePart
from haproxy_native.features.events.statistics_history import MEASURES, SECONDS
from haproxy_native.features.events.stream import COUNTED, STATS, TYPES, EventFilter, EventStream, FellBehind, StreamEvent, Subscription
from haproxy_native.threads import run_in_thread

# A client that reads no data for so many seconds is disconnected.
PATIENCE = 60.0
HEADERS: list[Header] = [(HeaderName(b"X-Accel-Buffering"), b"no")]
EVENT_STREAM = b"text/event-stream"
DROPPED = b'event: dropped\ndata: {"type":"dropped","data":{"reason":"events were published faster than the client read them"}}\n\n'


async def read(call: ReadCall) -> Response:
    sources = EventsFeature.of(call.services).sources
    types, counters = _parse_types(call.query.types), _parse_counters(call.query.counters)
    subscription, is_lost = _subscribe(call, sources.stream, EventFilter(types, call.query.object, reader(call.author), counters))
    end, expiry = call.query.end_after, call.author.caller.expires - time.time()
    seconds = expiry if end is None else min(end, expiry)
    parts = partial(_stream_parts, call, subscription, seconds, is_lost=is_lost, snapshot=call.query.snapshot)
    return StreamResponse(parts, subscription.close, EVENT_STREAM, HEADERS, PATIENCE)


async def stats_history(call: ReadCall) -> Response:
    named = frozenset(call.query.measures.split(",")) if call.query.measures else frozenset(MEASURES)
    if unknown := sorted(named - MEASURES.keys()):
        raise ApiError(400, f"measures in query: unknown measure {unknown[0][:50]!r}; expected {', '.join(MEASURES)}")
    history = EventsFeature.of(call.services).sources.history
    seconds = past if isinstance(past := call.query.since, float | int) else SECONDS
    kinds = _parse_counters(call.query.counters)
    return json_response(200, await run_in_thread(history.read, seconds, named, kinds, call.query.object, reader(call.author)))


def _subscribe(call: Call, stream: EventStream, filter_: EventFilter) -> tuple[Subscription, bool]:
    """Subscribe to events. Return the subscription, and whether events after the call's `Last-Event-ID` are no longer available.

    Raises ApiError.
    """
    if (last := call.values.get("Last-Event-ID")) is not None:
        if not (last.isdecimal() and last.isascii() and len(last) < 20):
            raise ApiError(400, "Last-Event-ID in header is not the id of an event; send the id of the last event that was read")
        is_lost = not stream.has_all_after(int(last), filter_.types)
        return stream.subscription(filter_, None if is_lost else int(last)), is_lost
    if isinstance(past := call.query.since, float | int):
        return stream.subscription_since(filter_, past), False
    return stream.subscription(filter_), False


@lru_cache(maxsize=64)
def _parse_types(text: str) -> frozenset[str]:
    """Parse a list of event types. An empty text means all types except counters. Raises ApiError."""
    named = frozenset(text.split(",")) if text else frozenset(TYPES) - {STATS}
    if unknown := sorted(named - {*TYPES}):
        raise ApiError(400, f"types in query: unknown type {unknown[0][:50]!r}; expected one of {', '.join(TYPES)}")
    return named


@lru_cache(maxsize=64)
def _parse_counters(text: str) -> frozenset[str]:
    """Parse a list of kinds of objects that have counters. An empty text means all kinds. Raises ApiError."""
    named = frozenset(text.split(",")) if text else COUNTED
    if unknown := sorted(named - COUNTED):
        raise ApiError(400, f"counters in query: unknown kind {unknown[0][:50]!r}; expected one of {', '.join(sorted(COUNTED))}")
    return named


async def _stream_parts(
    call: Call, subscription: Subscription, seconds: float, write: WritePart | None, *, is_lost: bool, snapshot: bool
) -> AsyncGenerator[bytes]:
    """Yield events until the subscription is closed, or until `seconds` have passed.

    If `write` is not None, the fanout writes new events directly to the connection as soon as the subscriber has received all former
    events.
    """
    services, sources = call.services, EventsFeature.of(call.services).sources
    deadline = asyncio.get_running_loop().time() + seconds
    with subscription, services.streams.track(call.author.caller, services.roles, subscription.close):
        yield HEARTBEAT
        if is_lost or snapshot:
            state = await sources.current_state(subscription.wanted, zeros=call.query.zeros)
            data = {"lost": is_lost, **state}
            if subscription.wanted.may_read is None:
                data["lines_to_add"] = sources.lines_to_add
            yield frame(StreamEvent.of(subscription.place, "snapshot", "", data))
        while not subscription.is_closed and (left := deadline - asyncio.get_running_loop().time()) > 0:
            try:
                if write:
                    events = await EventsFeature.of(services).fanout.follow(subscription, write, left)
                else:
                    events = await subscription.read(min(left, HEARTBEAT_SECONDS))
            except FellBehind:
                yield DROPPED
                return
            for part in frames(events):
                yield part
            if not events and not write:
                yield HEARTBEAT
