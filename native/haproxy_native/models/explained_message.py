# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import explained_header


class ExplainedMessage(Model):
    """A request as the server sees it, or a response as the client does."""

    line: StrictStr
    """Its first line."""
    headers: list[explained_header.ExplainedHeader]
    """Its headers."""
