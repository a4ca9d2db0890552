# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import explain_reply, explain_tls


class ExplainQuestion(Model):
    """A request as a client sends it."""

    method: Annotated[StrictStr | None, Field(max_length=32)] = None
    """Its method."""
    url: Annotated[StrictStr | None, Field(max_length=8000)] = None
    """Its URL, or its path where host says who is asked."""
    host: Annotated[StrictStr | None, Field(max_length=300)] = None
    """The Host header; that of the URL without it."""
    path: Annotated[StrictStr | None, Field(max_length=8000)] = None
    """Path and query in the place of url."""
    headers: dict[str, Any] | None = None
    """Its headers, a value or a list of values each."""
    body: Annotated[StrictStr | None, Field(max_length=60000)] = None
    """Its body."""
    src: Annotated[
        StrictStr | None, Field(max_length=45, pattern='^[0-9a-fA-F.:]+$')
    ] = None
    """Address of the client."""
    sni: Annotated[StrictStr | None, Field(max_length=255)] = None
    """Name that it asks for in TLS; that of the URL without it."""
    tls: explain_tls.ExplainTls | None = None
    frontend: Annotated[StrictStr | None, Field(max_length=300)] = None
    """Section that takes it. By the port of the URL without it."""
    bind: Annotated[StrictStr | None, Field(max_length=1000)] = None
    """Name or address of the listener that takes it."""
    response: explain_reply.ExplainReply | None = None
    config: Annotated[StrictStr | None, Field(max_length=50000000)] = None
    """A configuration in the place of the present one."""
    transaction_id: Annotated[StrictStr | None, Field(max_length=100)] = None
    """A transaction whose configuration is asked about."""
