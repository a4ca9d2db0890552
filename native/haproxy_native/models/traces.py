# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model

from . import trace_entries


class Traces(Model):
    entries: trace_entries.TraceEntries | None = None
    metadata: dict[str, Any] | None = None
