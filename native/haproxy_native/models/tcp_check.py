# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class TcpCheck(Model):
    action: Literal['comment', 'connect', 'expect', 'send', 'send-lf', 'send-binary', 'send-binary-lf', 'set-var', 'set-var-fmt', 'unset-var']
    addr: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    check_comment: StrictStr | None = None
    data: StrictStr | None = None
    default: StrictBool | None = None
    error_status: Literal['L7OKC', 'L7RSP', 'L7STS', 'L6RSP', 'L4CON'] | None = None
    exclamation_mark: StrictBool | None = None
    fmt: StrictStr | None = None
    hex_fmt: StrictStr | None = None
    hex_string: StrictStr | None = None
    linger: StrictBool | None = None
    match: Literal['string', 'rstring', 'string-lf', 'binary', 'rbinary', 'binary-lf'] | None = (
        None
    )
    metadata: dict[str, Any] | None = None
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
    var_expr: StrictStr | None = None
    var_fmt: StrictStr | None = None
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    via_socks4: StrictBool | None = None
