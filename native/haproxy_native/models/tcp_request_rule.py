# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class TcpRequestRule(Model):
    action: Literal['accept', 'attach-srv', 'capture', 'do-resolve', 'expect-netscaler-cip', 'expect-proxy', 'lua', 'reject', 'sc-add-gpc', 'sc-inc-gpc', 'sc-inc-gpc0', 'sc-inc-gpc1', 'sc-set-gpt', 'sc-set-gpt0', 'send-spoe-group', 'set-bandwidth-limit', 'set-bc-mark', 'set-bc-tos', 'set-dst-port', 'set-dst', 'set-fc-mark', 'set-fc-tos', 'set-log-level', 'set-mark', 'set-nice', 'set-priority-class', 'set-priority-offset', 'set-src', 'set-src-port', 'set-tos', 'set-var', 'set-var-fmt', 'silent-drop', 'switch-mode', 'track-sc', 'unset-var', 'use-service', 'set-retries', 'do-log', 'ot-group'] | None = (
        None
    )
    bandwidth_limit_limit: StrictStr | None = None
    bandwidth_limit_name: StrictStr | None = None
    bandwidth_limit_period: StrictStr | None = None
    capture_len: StrictInt | None = None
    capture_sample: Annotated[
        StrictStr | None,
        Field(pattern='^(?:[A-Za-z]+\\("([A-Za-z\\s]+)"\\)|[A-Za-z]+)'),
    ] = None
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    expr: StrictStr | None = None
    gpt_value: StrictStr | None = None
    log_level: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug', 'silent'] | None = (
        None
    )
    log_profile: StrictStr | None = None
    lua_action: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    lua_params: StrictStr | None = None
    mark_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    metadata: dict[str, Any] | None = None
    nice_value: Annotated[StrictInt | None, Field(ge=-1024, le=1024)] = None
    ot_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ot_id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    resolve_protocol: Literal['ipv4', 'ipv6'] | None = None
    resolve_resolvers: StrictStr | None = None
    resolve_var: StrictStr | None = None
    rst_ttl: StrictInt | None = None
    sc_idx: StrictStr | None = None
    sc_inc_id: StrictStr | None = None
    sc_int: StrictInt | None = None
    server_name: StrictStr | None = None
    service_name: StrictStr | None = None
    spoe_engine_name: StrictStr | None = None
    spoe_group_name: StrictStr | None = None
    switch_mode_proto: StrictStr | None = None
    timeout: StrictInt | None = None
    tos_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    track_key: StrictStr | None = None
    track_stick_counter: StrictInt | None = None
    track_table: StrictStr | None = None
    type: Literal['connection', 'content', 'inspect-delay', 'session']
    var_format: StrictStr | None = None
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
