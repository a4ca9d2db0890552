# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class HttpAfterResponseRule(Model):
    """What is done with any response on its way out, one http-after-response line (HAProxy Configuration Manual, section 4.2)."""

    acl_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File that names the ACL, as it is loaded with -f."""
    acl_keyfmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string whose result is the ACL entry."""
    capture_id: StrictInt | None = None
    """Number of the declared capture slot, from 0."""
    capture_len: StrictInt | None = None
    """Accepted and not used: HAProxy takes a declared slot only."""
    capture_sample: Annotated[
        StrictStr | None,
        Field(pattern='^(?:[A-Za-z]+\\("([A-Za-z\\s]+)"\\)|[A-Za-z]+)'),
    ] = None
    """Sample expression that is captured, one word."""
    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold (if) or to fail (unless)."""
    cond_test: StrictStr | None = None
    """ACL expression of the condition, as in the file."""
    hdr_expr: StrictStr | None = None
    """Sample expression that gives header fields in binary form."""
    hdr_format: StrictStr | None = None
    """Log-format string that gives the value of the header field."""
    hdr_match: StrictStr | None = None
    """Regular expression for the value of the header field."""
    hdr_method: StrictStr | None = None
    """How the name is compared: str, beg, end, sub or reg."""
    hdr_name: StrictStr | None = None
    """Name of the header field."""
    hdr_prefix: StrictStr | None = None
    """Text put before the names of the header fields."""
    log_level: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug', 'silent'] | None = (
        None
    )
    """Level at which the stream is logged; silent logs nothing."""
    log_profile: StrictStr | None = None
    """Name of the log profile; else the one of the log line."""
    map_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File that names the map, as it is loaded."""
    map_keyfmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string whose result is the key of the map entry."""
    map_valuefmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Log-format string whose result is the value of the map entry."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    ot_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the group of spans."""
    ot_id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the OpenTracing filter."""
    sc_expr: StrictStr | None = None
    """Sample expression whose result is added or set."""
    sc_id: StrictInt | None = None
    """Number of the sticky counter."""
    sc_idx: StrictInt | None = None
    """Number of the counter or tag in the array of the stick table."""
    sc_int: StrictInt | None = None
    """Number that is added or set."""
    status: Annotated[StrictInt | None, Field(ge=100, le=999)] = None
    """New HTTP status of the response."""
    status_reason: StrictStr | None = None
    """Reason phrase that goes with the status."""
    strict_mode: Literal['on', 'off'] | None = None
    """Whether rules that fail are errors (on) or are passed over (off)."""
    type: Literal['add-header', 'add-headers-bin', 'allow', 'capture', 'del-acl', 'del-header', 'del-headers-bin', 'del-map', 'replace-header', 'replace-value', 'sc-add-gpc', 'sc-inc-gpc', 'sc-inc-gpc0', 'sc-inc-gpc1', 'sc-set-gpt', 'sc-set-gpt0', 'set-header', 'set-headers-bin', 'set-log-level', 'set-map', 'set-status', 'set-var', 'set-var-fmt', 'strict-mode', 'unset-var', 'do-log', 'ot-group']
    """Action of the rule; it tells which other members count."""
    var_expr: StrictStr | None = None
    """Sample expression whose result the variable gets."""
    var_format: StrictStr | None = None
    """Log-format string whose result the variable gets."""
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name of the variable without its scope; conditions of the assignment may follow with commas."""
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Scope of the variable: proc, sess, txn, req, res or check."""
