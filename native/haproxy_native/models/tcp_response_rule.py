# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class TcpResponseRule(Model):
    """What is done with the first bytes of a server, one tcp-response line (HAProxy Configuration Manual, sections 4.2 and 4.4)."""

    action: Literal['accept', 'close', 'lua', 'reject', 'sc-add-gpc', 'sc-inc-gpc', 'sc-inc-gpc0', 'sc-inc-gpc1', 'sc-set-gpt', 'sc-set-gpt0', 'send-spoe-group', 'set-bandwidth-limit', 'set-fc-mark', 'set-fc-tos', 'set-log-level', 'set-mark', 'set-nice', 'set-tos', 'set-var', 'set-var-fmt', 'silent-drop', 'unset-var', 'do-log', 'ot-group'] | None = (
        None
    )
    """What is done; it tells which other members count."""
    bandwidth_limit_limit: StrictStr | None = None
    """Bytes per period, a size or a sample expression."""
    bandwidth_limit_name: StrictStr | None = None
    """Name of the bandwidth limitation filter."""
    bandwidth_limit_period: StrictStr | None = None
    """Length of the period, a time or a sample expression."""
    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    expr: StrictStr | None = None
    """Sample expression that the action uses."""
    log_level: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug', 'silent'] | None = (
        None
    )
    """Level at which the stream is logged; silent logs nothing."""
    log_profile: StrictStr | None = None
    """Name of the log profile; else the one of the log line."""
    lua_action: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the Lua action, without the leading lua."""
    lua_params: StrictStr | None = None
    """Arguments of the Lua action, as in the file."""
    mark_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    """Netfilter mark of the packets, decimal or hexadecimal."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    nice_value: Annotated[StrictInt | None, Field(ge=-1024, le=1024)] = None
    """Priority of the processing, from -1024 (first) to 1024 (last)."""
    ot_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the group of spans."""
    ot_id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the OpenTracing filter."""
    rst_ttl: StrictInt | None = None
    """Sends a TCP reset with this time to live instead of nothing."""
    sc_expr: StrictStr | None = None
    """Sample expression whose result is added or set."""
    sc_id: StrictInt | None = None
    """Number of the sticky counter."""
    sc_idx: StrictInt | None = None
    """Number of the counter or tag in the array of the stick table."""
    sc_int: StrictInt | None = None
    """Number that is added or set."""
    spoe_engine: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the SPOE engine."""
    spoe_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the SPOE group of messages."""
    timeout: StrictInt | None = None
    """How long to wait for content, in ms. In milliseconds."""
    tos_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    """DS field of the IP packets, decimal or hexadecimal."""
    type: Literal['content', 'inspect-delay']
    """Whether this is a rule or the time to wait for content."""
    var_format: StrictStr | None = None
    """Log-format string whose result the variable gets."""
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the variable without its scope; conditions of the assignment may follow with commas."""
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Scope of the variable: proc, sess, txn, req, res or check."""
