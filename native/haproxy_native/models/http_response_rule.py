# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model, Whole
from pydantic import Field, StrictInt, StrictStr

from . import return_header


class HttpResponseRule(Model):
    acl_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    acl_keyfmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    bandwidth_limit_limit: StrictStr | None = None
    bandwidth_limit_name: StrictStr | None = None
    bandwidth_limit_period: StrictStr | None = None
    cache_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    capture_id: StrictInt | None = None
    capture_sample: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    deny_status: Annotated[StrictInt | None, Field(ge=200, le=599)] = None
    expr: StrictStr | None = None
    hdr_expr: StrictStr | None = None
    hdr_format: StrictStr | None = None
    hdr_match: StrictStr | None = None
    hdr_method: StrictStr | None = None
    hdr_name: StrictStr | None = None
    hdr_prefix: StrictStr | None = None
    log_level: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug', 'silent'] | None = (
        None
    )
    log_profile: StrictStr | None = None
    lua_action: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    lua_params: StrictStr | None = None
    map_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    map_keyfmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    map_valuefmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    mark_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    metadata: dict[str, Any] | None = None
    nice_value: Annotated[StrictInt | None, Field(ge=-1024, le=1024)] = None
    ot_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ot_id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    redir_code: Whole[Literal[301, 302, 303, 307, 308]] | None = None
    redir_option: StrictStr | None = None
    redir_type: Literal['location', 'prefix', 'scheme'] | None = None
    redir_value: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    return_content: StrictStr | None = None
    return_content_format: Literal['default-errorfiles', 'errorfile', 'errorfiles', 'file', 'lf-file', 'string', 'lf-string'] | None = (
        None
    )
    return_content_type: StrictStr | None = None
    return_hdrs: list[return_header.ReturnHeader] | None = None
    return_status_code: Annotated[StrictInt | None, Field(ge=200, le=599)] = None
    rst_ttl: StrictInt | None = None
    sc_expr: StrictStr | None = None
    sc_id: StrictInt | None = None
    sc_idx: StrictInt | None = None
    sc_int: StrictInt | None = None
    spoe_engine: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    spoe_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    status: Annotated[StrictInt | None, Field(ge=100, le=999)] = None
    status_reason: StrictStr | None = None
    strict_mode: Literal['on', 'off'] | None = None
    timeout: StrictStr | None = None
    timeout_type: Literal['client', 'connect', 'queue', 'server', 'tarpit', 'tunnel'] | None = (
        None
    )
    tos_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    track_sc_key: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    track_sc_stick_counter: StrictInt | None = None
    track_sc_table: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    type: Literal['add-acl', 'add-header', 'add-headers-bin', 'allow', 'cache-store', 'capture', 'del-acl', 'del-header', 'del-headers-bin', 'del-map', 'deny', 'lua', 'pause', 'redirect', 'replace-header', 'replace-value', 'return', 'sc-add-gpc', 'sc-inc-gpc', 'sc-inc-gpc0', 'sc-inc-gpc1', 'sc-set-gpt', 'sc-set-gpt0', 'send-spoe-group', 'set-fc-mark', 'set-fc-tos', 'set-header', 'set-headers-bin', 'set-log-level', 'set-map', 'set-mark', 'set-nice', 'set-status', 'set-timeout', 'set-tos', 'set-var', 'set-var-fmt', 'silent-drop', 'strict-mode', 'track-sc', 'unset-var', 'wait-for-body', 'set-bandwidth-limit', 'do-log', 'ot-group']
    var_expr: StrictStr | None = None
    var_format: StrictStr | None = None
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    wait_at_least: StrictInt | None = None
    wait_time: Annotated[StrictInt | None, Field(ge=0)] = None
