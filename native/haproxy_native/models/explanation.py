# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr

from . import (
    explained_line,
    explained_listener,
    explained_message,
    explained_rule,
    explained_server,
    explained_unknown,
)


class Explanation(Model):
    """What becomes of a request."""

    listener: explained_listener.ExplainedListener
    rules: list[explained_rule.ExplainedRule]
    """The rules that apply, in their order."""
    backend: StrictStr | None = None
    """The backend that it goes to."""
    server: StrictStr | None = None
    """The server that is taken here, where other ones may be as well."""
    servers: list[explained_server.ExplainedServer] | None = None
    """Those of the backend."""
    answered_by: explained_line.ExplainedLine | None = None
    status: StrictInt | None = None
    """Status of the response; absent where the connection is closed without one."""
    location: StrictStr | None = None
    """Where a redirect leads."""
    variables: dict[str, StrictStr] | None = None
    """What variables of the stream hold at its end."""
    request: explained_message.ExplainedMessage | None = None
    response: explained_message.ExplainedMessage | None = None
    unknown: list[explained_unknown.ExplainedUnknown]
    """What cannot be known here."""
