# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model, Whole
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import return_header


class HttpRequestRule(Model):
    """What is done with a request, one http-request line (HAProxy Configuration Manual, sections 4.2 and 4.4)."""

    acl_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File that names the ACL, as it is loaded with -f."""
    acl_keyfmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string whose result is the ACL entry."""
    auth_realm: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Realm that the browser shows with its question for a password."""
    bandwidth_limit_limit: StrictStr | None = None
    """Bytes per period, a size or a sample expression."""
    bandwidth_limit_name: StrictStr | None = None
    """Name of the bandwidth limitation filter."""
    bandwidth_limit_period: StrictStr | None = None
    """Length of the period, a time or a sample expression."""
    cache_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the cache section."""
    capture_id: StrictInt | None = None
    """Number of the declared capture slot, from 0."""
    capture_len: StrictInt | None = None
    """Bytes of a capture slot of its own."""
    capture_sample: Annotated[
        StrictStr | None,
        Field(pattern='^(?:[A-Za-z]+\\("([A-Za-z\\s]+)"\\)|[A-Za-z]+)'),
    ] = None
    """Sample expression that is captured, one word."""
    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    deny_status: Annotated[StrictInt | None, Field(ge=200, le=599)] = None
    """HTTP status of the refusal."""
    expr: StrictStr | None = None
    """Sample expression; pause also takes a time, set-retries a number."""
    hdr_expr: StrictStr | None = None
    """Sample expression that gives header fields in binary form."""
    hdr_format: StrictStr | None = None
    """Log-format string that gives the value of the header field, or the new query string of set-query."""
    hdr_match: StrictStr | None = None
    """Regular expression for the value of the header field."""
    hdr_method: StrictStr | None = None
    """How the name is compared: str, beg, end, sub or reg."""
    hdr_name: StrictStr | None = None
    """Name of the header field."""
    hdr_prefix: StrictStr | None = None
    """Text put before the names of the header fields."""
    hint_format: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string that gives the value of the hinted header field."""
    hint_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the hinted header field."""
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
    map_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File that names the map, as it is loaded."""
    map_keyfmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string whose result is the key of the map entry."""
    map_valuefmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string whose result is the value of the map entry."""
    mark_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    """Netfilter mark of the packets, decimal or hexadecimal."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    method_fmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string whose result is the new method."""
    nice_value: Annotated[StrictInt | None, Field(ge=-1024, le=1024)] = None
    """Priority of the processing, from -1024 (first) to 1024 (last)."""
    normalizer: Literal['fragment-encode', 'fragment-strip', 'path-merge-slashes', 'path-strip-dot', 'path-strip-dotdot', 'percent-decode-unreserved', 'percent-to-uppercase', 'query-sort-by-name'] | None = (
        None
    )
    """What is normalized in the URI."""
    normalizer_full: StrictBool | None = None
    """Whether path-strip-dotdot may also climb above the root."""
    normalizer_strict: StrictBool | None = None
    """Whether an encoding that is not valid refuses the request."""
    ot_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the group of spans."""
    ot_id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the OpenTracing filter."""
    path_fmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string whose result is the new path."""
    path_match: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Regular expression for the path."""
    protocol: Literal['ipv4', 'ipv6'] | None = None
    """Address family that is preferred."""
    query_fmt: Annotated[StrictStr | None, Field(alias='query-fmt')] = None
    """Another name for hdr_format where the type is set-query."""
    redir_code: Whole[Literal[301, 302, 303, 307, 308]] | None = None
    """HTTP status of the redirection; 302 by default."""
    redir_option: StrictStr | None = None
    """Further words of the redirection: drop-query, append-slash, set-cookie, ..."""
    redir_type: Literal['location', 'prefix', 'scheme'] | None = None
    """Whether the value is a whole location, a prefix of the path or a scheme."""
    redir_value: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string that gives the location, the prefix or the scheme."""
    resolvers: StrictStr | None = None
    """Name of the resolvers section."""
    return_content: StrictStr | None = None
    """File, name or text of the answer, by its format; several words come quoted."""
    return_content_format: Literal['default-errorfiles', 'errorfile', 'errorfiles', 'file', 'lf-file', 'string', 'lf-string'] | None = (
        None
    )
    """What the content of the answer is: files, an error page, a text, a log-format text."""
    return_content_type: StrictStr | None = None
    """MIME type of the answer."""
    return_hdrs: list[return_header.ReturnHeader] | None = None
    """Header fields added to the answer."""
    return_status_code: Annotated[StrictInt | None, Field(ge=200, le=599)] = None
    """HTTP status of the answer; 200 by default."""
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
    service_name: StrictStr | None = None
    """Name of the service that answers instead of a server."""
    spoe_engine: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the SPOE engine."""
    spoe_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the SPOE group of messages."""
    strict_mode: Literal['on', 'off'] | None = None
    """Whether rules that fail are errors (on) or are passed over (off)."""
    timeout: StrictStr | None = None
    """New time-out, a time or a sample expression."""
    timeout_type: Literal['client', 'connect', 'queue', 'server', 'tarpit', 'tunnel'] | None = (
        None
    )
    """Which time-out of the stream is set."""
    tos_value: Annotated[
        StrictStr | None, Field(pattern='^(0x[0-9A-Fa-f]+|[0-9]+)$')
    ] = None
    """DS field of the IP packets, decimal or hexadecimal."""
    track_sc_key: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Sample expression that gives the key, one word."""
    track_sc_stick_counter: StrictInt | None = None
    """Number of the sticky counter that tracks the key."""
    track_sc_table: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Proxy whose stick table is used; else the one of the proxy itself."""
    type: Literal['add-acl', 'add-header', 'add-headers-bin', 'allow', 'auth', 'cache-use', 'capture', 'del-acl', 'del-header', 'del-headers-bin', 'del-map', 'deny', 'disable-l7-retry', 'do-resolve', 'early-hint', 'lua', 'normalize-uri', 'pause', 'redirect', 'reject', 'replace-header', 'replace-path', 'replace-pathq', 'replace-uri', 'replace-value', 'return', 'sc-add-gpc', 'sc-inc-gpc', 'sc-inc-gpc0', 'sc-inc-gpc1', 'sc-set-gpt', 'sc-set-gpt0', 'send-spoe-group', 'set-bc-mark', 'set-bc-tos', 'set-dst', 'set-dst-port', 'set-fc-mark', 'set-fc-tos', 'set-header', 'set-headers-bin', 'set-log-level', 'set-map', 'set-mark', 'set-method', 'set-nice', 'set-path', 'set-pathq', 'set-priority-class', 'set-priority-offset', 'set-query', 'set-src', 'set-src-port', 'set-timeout', 'set-tos', 'set-uri', 'set-var', 'set-var-fmt', 'silent-drop', 'strict-mode', 'tarpit', 'track-sc', 'unset-var', 'use-service', 'wait-for-body', 'wait-for-handshake', 'set-bandwidth-limit', 'set-retries', 'do-log', 'ot-group']
    """Action of the rule; it tells which other members count."""
    uri_fmt: Annotated[StrictStr | None, Field(alias='uri-fmt')] = None
    """Log-format string whose result is the new URI."""
    uri_match: Annotated[StrictStr | None, Field(alias='uri-match')] = None
    """Regular expression for the URI."""
    var_expr: StrictStr | None = None
    """Sample expression whose result the variable gets."""
    var_format: StrictStr | None = None
    """Log-format string whose result the variable gets."""
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the variable without its scope; conditions of the assignment may follow with commas."""
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Scope of the variable: proc, sess, txn, req, res or check."""
    wait_at_least: StrictInt | None = None
    """Bytes of the body after which waiting ends."""
    wait_time: Annotated[StrictInt | None, Field(ge=0)] = None
    """How long to wait for the body, in ms. In milliseconds."""
