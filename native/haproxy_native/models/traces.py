# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model

from . import trace_entries


class Traces(Model):
    """Traces that are on from the start, the traces section (HAProxy Configuration Manual, traces)."""

    entries: trace_entries.TraceEntries | None = None
    """What is traced."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
