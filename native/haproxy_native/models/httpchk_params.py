# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class HttpchkParams(Model):
    """Request of HTTP health checks (HAProxy Configuration Manual, section 4.2 \"option httpchk\")."""

    host: StrictStr | None = None
    """Value of the Host header."""
    method: Literal['HEAD', 'PUT', 'POST', 'GET', 'TRACE', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS'] | None = (
        None
    )
    """Verb of the request."""
    uri: Annotated[StrictStr | None, Field(pattern='^[^ ]*$')] = None
    """Path that is asked for."""
    version: StrictStr | None = None
    """Version of HTTP, and headers behind it."""
