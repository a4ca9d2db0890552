# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class RoutingExpectation(Model):
    """What is to become of a request. Nothing is expected of what is left out."""

    frontend: Annotated[StrictStr | None, Field(max_length=300)] = None
    """The section that takes it."""
    bind: Annotated[StrictStr | None, Field(max_length=1000)] = None
    """The address of the listener that takes it."""
    backend: Annotated[StrictStr | None, Field(max_length=300)] = None
    """The backend that it goes to."""
    server: Annotated[StrictStr | None, Field(max_length=300)] = None
    """The server that it goes to; for backends where a rule or a cookie decides that."""
    status: Annotated[StrictInt | None, Field(ge=100, le=999)] = None
    """Status of the response."""
    location: Annotated[StrictStr | None, Field(max_length=8000)] = None
    """Where a redirect leads."""
    closed: StrictBool | None = None
    """Whether the connection is closed without a response."""
    answered_by: Annotated[StrictStr | None, Field(max_length=8000)] = None
    """The line of the rule that answers in the place of a server."""
    request_headers: dict[str, Any] | None = None
    """Headers that the server gets: a value, a list of values, or null for one that it does not get."""
    response_headers: dict[str, Any] | None = None
    """Headers that the client gets: a value, a list of values, or null for one that it does not get."""
