# Generated from openapi/ by `make generate`; do not edit.

from typing import Any

from haproxy_native.models import Model


class StatsEvent(Model):
    """Counters of a frontend, backend or server that have changed within a second, of type stats."""

    counters: dict[str, Any]
    """By the names of the columns of HAProxy."""
