# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class RingBase(Model):
    """A ring buffer of logs, one ring section (HAProxy Configuration Manual 2.6, section 3.9)."""

    description: StrictStr | None = None
    """Text that describes it."""
    format: Literal['iso', 'local', 'raw', 'rfc3164', 'rfc5424', 'short', 'priority', 'timed'] | None = (
        None
    )
    """Format of the messages."""
    maxlen: StrictInt | None = None
    """Bytes of a message at most."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    """Name of the ring."""
    size: Annotated[StrictInt | None, Field(ge=0)] = None
    """Bytes of the buffer."""
    timeout_connect: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time a connection to its servers may take to be made. In milliseconds."""
    timeout_server: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time its servers may be idle. In milliseconds."""
