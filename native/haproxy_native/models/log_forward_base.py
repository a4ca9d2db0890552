# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class LogForwardBase(Model):
    """A forwarder of logs, one log-forward section (HAProxy Configuration Manual 2.6, section 3.10)."""

    assume_rfc6587_ntf: Annotated[
        StrictBool | None, Field(alias='assume-rfc6587-ntf')
    ] = None
    """Whether messages over TCP that begin with < end with a line."""
    backlog: StrictInt | None = None
    """Length of the queue of connections not taken yet."""
    dont_parse_log: Annotated[StrictBool | None, Field(alias='dont-parse-log')] = None
    """Whether messages are passed on as they are."""
    maxconn: StrictInt | None = None
    """Connections at a time."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    """Name of the section."""
    timeout_client: Annotated[StrictInt | None, Field(ge=0, le=2147483647)] = None
    """Time a client may be idle. In milliseconds."""
