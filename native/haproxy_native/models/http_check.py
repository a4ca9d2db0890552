# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import return_header


class HttpCheck(Model):
    """One step of an HTTP health check, one http-check line (HAProxy Configuration Manual, section 4.2)."""

    addr: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Address that is checked instead of the server's."""
    alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Protocols offered by ALPN, comma-separated."""
    body: StrictStr | None = None
    """Body of the request."""
    body_log_format: StrictStr | None = None
    """Body of the request, a log-format string."""
    check_comment: StrictStr | None = None
    """What is reported when the rule fails."""
    default: StrictBool | None = None
    """Whether the options of the server line are used."""
    error_status: Literal['L7OKC', 'L7RSP', 'L7STS', 'L6RSP', 'L4CON'] | None = None
    """Status of the check when the rule fails."""
    exclamation_mark: StrictBool | None = None
    """Whether the match is negated."""
    headers: list[return_header.ReturnHeader] | None = None
    """Header fields of the request."""
    linger: StrictBool | None = None
    """Whether the connection is closed in order instead of reset."""
    match: Literal['status', 'rstatus', 'hdr', 'fhdr', 'string', 'rstring'] | None = (
        None
    )
    """What is compared, and how."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    method: Literal['HEAD', 'PUT', 'POST', 'GET', 'TRACE', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS'] | None = (
        None
    )
    """Method of the request; OPTIONS by default."""
    min_recv: StrictInt | None = None
    """Bytes that have to be there before the rule is evaluated; -1 for any."""
    ok_status: Literal['L7OK', 'L7OKC', 'L6OK', 'L4OK'] | None = None
    """Status of the check when its last rule is fulfilled."""
    on_error: StrictStr | None = None
    """Log-format string that is reported when the rule fails."""
    on_success: StrictStr | None = None
    """Log-format string that is reported when the last rule is fulfilled."""
    pattern: StrictStr | None = None
    """What is looked for, in the form that the match asks for; several words come quoted."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port that is checked instead of the server's."""
    port_string: StrictStr | None = None
    """Sample expression that gives the port."""
    proto: StrictStr | None = None
    """Multiplexer of the connection: h1, h2 or fcgi."""
    send_proxy: StrictBool | None = None
    """Whether a PROXY protocol header is sent."""
    sni: StrictStr | None = None
    """Server name that is sent with TLS."""
    ssl: StrictBool | None = None
    """Whether the check speaks TLS."""
    status_code: Annotated[StrictStr | None, Field(alias='status-code')] = None
    """Sample expression that gives the code to report."""
    tout_status: Literal['L7TOUT', 'L6TOUT', 'L4TOUT'] | None = None
    """Status of the check when it takes too long."""
    type: Literal['comment', 'connect', 'disable-on-404', 'expect', 'send', 'send-state', 'set-var', 'set-var-fmt', 'unset-var']
    """What the step does; it tells which other members count."""
    uri: StrictStr | None = None
    """URI of the request."""
    uri_log_format: StrictStr | None = None
    """URI of the request, a log-format string."""
    var_expr: StrictStr | None = None
    """Sample expression whose result the variable gets, or log-format string of set-var-fmt."""
    var_format: StrictStr | None = None
    """Another name for var_expr where the type is set-var-fmt."""
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the variable without its scope; conditions of the assignment may follow with commas."""
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Scope of the variable: proc, sess or check."""
    version: StrictStr | None = None
    """Version of the request, as HTTP/1.1."""
    via_socks4: StrictBool | None = None
    """Whether the check goes through the SOCKS4 proxy of the server."""
