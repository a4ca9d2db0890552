# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class TcpResponseRule(Model):
    action: Literal['accept', 'close', 'lua', 'reject', 'sc-add-gpc', 'sc-inc-gpc', 'sc-inc-gpc0', 'sc-inc-gpc1', 'sc-set-gpt', 'sc-set-gpt0', 'send-spoe-group', 'set-bandwidth-limit', 'set-fc-mark', 'set-fc-tos', 'set-log-level', 'set-mark', 'set-nice', 'set-tos', 'set-var', 'set-var-fmt', 'silent-drop', 'unset-var', 'do-log', 'ot-group'] | None = (
        None
    )
    bandwidth_limit_limit: StrictStr | None = None
    bandwidth_limit_name: StrictStr | None = None
    bandwidth_limit_period: StrictStr | None = None
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
    expr: StrictStr | None = None
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
    rst_ttl: StrictInt | None = None
    sc_expr: StrictStr | None = None
    sc_id: StrictInt | None = None
    sc_idx: StrictInt | None = None
    sc_int: StrictInt | None = None
    spoe_engine: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    spoe_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    timeout: StrictInt | None = None
    tos_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    type: Literal['content', 'inspect-delay']
    var_format: StrictStr | None = None
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
