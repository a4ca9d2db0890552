# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictFloat, StrictStr


class StatsHistoryRow(Model):
    """One number for each time, null if unknown. Rates are averages since the sample before, and unknown after a gap or a reload."""

    object: StrictStr
    """Its name, as in backend/shop/server/web1."""
    requests: list[StrictFloat] | None = None
    """Requests a second; in mode tcp, and of servers, sessions a second."""
    errors_4xx: list[StrictFloat] | None = None
    """Responses with status 4xx a second."""
    errors_5xx: list[StrictFloat] | None = None
    """Responses with status 5xx a second."""
    connection_errors: list[StrictFloat] | None = None
    """Failed connections to servers a second."""
    response_errors: list[StrictFloat] | None = None
    """Failed or invalid responses of servers a second."""
    sessions: list[StrictFloat] | None = None
    """Current sessions."""
    response_time: list[StrictFloat] | None = None
    """Average response time of the last 1,024 requests, in milliseconds."""
    queue: list[StrictFloat] | None = None
    """Requests that wait for a server."""
