# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class TcpRequestRule(Model):
    """What is done with a connection or its first bytes, one tcp-request line (HAProxy Configuration Manual, sections 4.2 and 4.4)."""

    action: Literal['accept', 'attach-srv', 'capture', 'do-resolve', 'expect-netscaler-cip', 'expect-proxy', 'lua', 'reject', 'sc-add-gpc', 'sc-inc-gpc', 'sc-inc-gpc0', 'sc-inc-gpc1', 'sc-set-gpt', 'sc-set-gpt0', 'send-spoe-group', 'set-bandwidth-limit', 'set-bc-mark', 'set-bc-tos', 'set-dst-port', 'set-dst', 'set-fc-mark', 'set-fc-tos', 'set-log-level', 'set-mark', 'set-nice', 'set-priority-class', 'set-priority-offset', 'set-src', 'set-src-port', 'set-tos', 'set-var', 'set-var-fmt', 'silent-drop', 'switch-mode', 'track-sc', 'unset-var', 'use-service', 'set-retries', 'do-log', 'ot-group'] | None = (
        None
    )
    """What is done; it tells which other members count."""
    bandwidth_limit_limit: StrictStr | None = None
    """Bytes per period, a size or a sample expression."""
    bandwidth_limit_name: StrictStr | None = None
    """Name of the bandwidth limitation filter."""
    bandwidth_limit_period: StrictStr | None = None
    """Length of the period, a time or a sample expression."""
    capture_len: StrictInt | None = None
    """Bytes of a capture slot of its own."""
    capture_sample: Annotated[
        StrictStr | None,
        Field(pattern='^(?:[A-Za-z]+\\("([A-Za-z\\s]+)"\\)|[A-Za-z]+)'),
    ] = None
    """Another name for expr where the action is capture."""
    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    expr: StrictStr | None = None
    """Sample expression that the action uses."""
    gpt_value: StrictStr | None = None
    """Accepted and not used: sc_int or expr give the value of the tag."""
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
    resolve_protocol: Literal['ipv4', 'ipv6'] | None = None
    """Address family that is preferred."""
    resolve_resolvers: StrictStr | None = None
    """Name of the resolvers section."""
    resolve_var: StrictStr | None = None
    """Another name for var_name where the action is do-resolve."""
    rst_ttl: StrictInt | None = None
    """Sends a TCP reset with this time to live instead of nothing."""
    sc_idx: StrictStr | None = None
    """Number of the counter or tag in the array of the stick table."""
    sc_inc_id: StrictStr | None = None
    """Number of the sticky counter."""
    sc_int: StrictInt | None = None
    """Number that is added or set."""
    server_name: StrictStr | None = None
    """Server that takes the reversed connection, backend/server."""
    service_name: StrictStr | None = None
    """Name of the service that answers instead of a server."""
    spoe_engine_name: StrictStr | None = None
    """Name of the SPOE engine."""
    spoe_group_name: StrictStr | None = None
    """Name of the SPOE group of messages."""
    switch_mode_proto: StrictStr | None = None
    """Multiplexer of the HTTP connection: h1 or h2."""
    timeout: StrictInt | None = None
    """How long to wait for content, in ms. In milliseconds."""
    tos_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    """DS field of the IP packets, decimal or hexadecimal."""
    track_key: StrictStr | None = None
    """Sample expression that gives the key, one word."""
    track_stick_counter: StrictInt | None = None
    """Number of the sticky counter that tracks the key."""
    track_table: StrictStr | None = None
    """Proxy whose stick table is used; else the one of the proxy itself."""
    type: Literal['connection', 'content', 'inspect-delay', 'session']
    """When the rule is evaluated; inspect-delay is no rule but the time to wait for content."""
    var_format: StrictStr | None = None
    """Log-format string whose result the variable gets."""
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the variable without its scope, which do-resolve wants with it; conditions of the assignment may follow with commas."""
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Scope of the variable: proc, sess, txn, req, res or check."""
