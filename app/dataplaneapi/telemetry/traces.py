"""Record spans of requests and of the engine's work for them, and export them over OTLP.

The standard environment variables of OpenTelemetry configure the export. Its SDK, which the optional extra `otlp` installs, is imported
only if the environment names an endpoint.
"""

import logging
import time
from collections.abc import Mapping
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any

from dataplaneapi.settings.packages import EXTRAS
from dataplaneapi.version import VERSION
from haproxy_native.commit.events import Announced, ChangedLive, Edited, Event, Forced, WorkerChanged

if TYPE_CHECKING:
    from opentelemetry.trace import Span

logger = logging.getLogger(__name__)
ENDPOINTS = ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_ENDPOINT")
_current: ContextVar["Span | None"] = ContextVar("span", default=None)


def from_environment(environ: Mapping[str, str]) -> "Traces | None":
    """Return the traces that the environment configures; None if the environment names no endpoint or the SDK is missing."""
    if not any(environ.get(name) for name in ENDPOINTS) or environ.get("OTEL_SDK_DISABLED", "").lower() == "true":
        return None
    try:
        return Traces()
    except ModuleNotFoundError as error:
        logger.warning("no traces are sent: %s is missing; %s", error.name, EXTRAS["otlp"].remedy)
        return None


class Traces:
    """Records spans. Call `begin` and `end` around each request, in its task. `on_event` is the listener for the events of the engine."""

    def __init__(self) -> None:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        resource = Resource.create({"service.name": "dataplaneapi", "service.version": VERSION})
        self._provider = TracerProvider(resource=resource, shutdown_on_exit=False)
        self._provider.add_span_processor(BatchSpanProcessor(OTLPSpanExporter()))
        self._tracer = self._provider.get_tracer("dataplaneapi")

    def begin(self, method: str, fields: Mapping[str, str]) -> dict[str, str]:
        """Begin the span of a request, and return its ids for log lines.

        `fields` has `trace_id` and `parent_id` if the client sent a `traceparent`.
        """
        from opentelemetry.trace import NonRecordingSpan, SpanContext, SpanKind, TraceFlags, set_span_in_context

        parent = None
        if fields:
            ids = int(fields["trace_id"], 16), int(fields["parent_id"], 16)
            parent_context = SpanContext(*ids, is_remote=True, trace_flags=TraceFlags(TraceFlags.SAMPLED))
            parent = set_span_in_context(NonRecordingSpan(parent_context))
        span = self._tracer.start_span(method, parent, SpanKind.SERVER, {"http.request.method": method})
        _current.set(span)
        context = span.get_span_context()
        return {"trace_id": f"{context.trace_id:032x}", "span_id": f"{context.span_id:016x}"}

    def end(self, operation: str, status: int) -> None:
        """End the span of the request. If `operation` is not empty, it becomes the name of the span."""
        from opentelemetry.trace import StatusCode

        if (span := _current.get()) is None:
            return
        if operation:
            span.update_name(operation)
        span.set_attribute("http.response.status_code", status)
        if status >= 500:
            span.set_status(StatusCode.ERROR)
        span.end()

    def on_event(self, event: Event) -> None:
        """Record the work of an event as a child span of the request, or as a root span if no request caused it."""
        from opentelemetry.trace import set_span_in_context

        span, now = _current.get(), time.time_ns()
        began = now - int(getattr(event, "seconds", 0.0) * 1e9)
        context = set_span_in_context(span) if span else None
        self._tracer.start_span(type(event).__name__, context, start_time=began, attributes=_attributes(event)).end(now)

    def close(self) -> None:
        """Send the remaining spans. Blocks."""
        self._provider.shutdown()


def _attributes(event: Event) -> dict[str, Any]:
    if isinstance(event, ChangedLive):
        return {"dataplane.commands": len(event.commands)}
    if isinstance(event, Edited):
        return {"dataplane.file": str(event.path)}
    if isinstance(event, Forced):
        return {"dataplane.reload.id": event.reload_id}
    if isinstance(event, WorkerChanged):
        return {"dataplane.worker": event.worker.pid if event.worker else 0}
    if isinstance(event, Announced):
        return {}
    attributes: dict[str, Any] = {"dataplane.outcome": event.outcome}
    for name in ("id", "keywords"):
        if value := getattr(event, name, None):
            attributes[f"dataplane.reload.{name}"] = value
    return attributes
