# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import return_header


class HttpCheck(Model):
    addr: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    body: StrictStr | None = None
    body_log_format: StrictStr | None = None
    check_comment: StrictStr | None = None
    default: StrictBool | None = None
    error_status: Literal['L7OKC', 'L7RSP', 'L7STS', 'L6RSP', 'L4CON'] | None = None
    exclamation_mark: StrictBool | None = None
    headers: list[return_header.ReturnHeader] | None = None
    linger: StrictBool | None = None
    match: Literal['status', 'rstatus', 'hdr', 'fhdr', 'string', 'rstring'] | None = (
        None
    )
    metadata: dict[str, Any] | None = None
    method: Literal['HEAD', 'PUT', 'POST', 'GET', 'TRACE', 'PATCH', 'DELETE', 'CONNECT', 'OPTIONS'] | None = (
        None
    )
    min_recv: StrictInt | None = None
    ok_status: Literal['L7OK', 'L7OKC', 'L6OK', 'L4OK'] | None = None
    on_error: StrictStr | None = None
    on_success: StrictStr | None = None
    pattern: StrictStr | None = None
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    port_string: StrictStr | None = None
    proto: StrictStr | None = None
    send_proxy: StrictBool | None = None
    sni: StrictStr | None = None
    ssl: StrictBool | None = None
    status_code: Annotated[StrictStr | None, Field(alias='status-code')] = None
    tout_status: Literal['L7TOUT', 'L6TOUT', 'L4TOUT'] | None = None
    type: Literal['comment', 'connect', 'disable-on-404', 'expect', 'send', 'send-state', 'set-var', 'set-var-fmt', 'unset-var']
    uri: StrictStr | None = None
    uri_log_format: StrictStr | None = None
    var_expr: StrictStr | None = None
    var_format: StrictStr | None = None
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    version: StrictStr | None = None
    via_socks4: StrictBool | None = None
