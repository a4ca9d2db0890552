# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class HttpAfterResponseRule(Model):
    acl_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    acl_keyfmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    capture_id: StrictInt | None = None
    capture_len: StrictInt | None = None
    capture_sample: Annotated[
        StrictStr | None,
        Field(pattern='^(?:[A-Za-z]+\\("([A-Za-z\\s]+)"\\)|[A-Za-z]+)'),
    ] = None
    cond: Literal['if', 'unless'] | None = None
    cond_test: StrictStr | None = None
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
    map_file: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    map_keyfmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    map_valuefmt: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    metadata: dict[str, Any] | None = None
    ot_group: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ot_id: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    sc_expr: StrictStr | None = None
    sc_id: StrictInt | None = None
    sc_idx: StrictInt | None = None
    sc_int: StrictInt | None = None
    status: Annotated[StrictInt | None, Field(ge=100, le=999)] = None
    status_reason: StrictStr | None = None
    strict_mode: Literal['on', 'off'] | None = None
    type: Literal['add-header', 'add-headers-bin', 'allow', 'capture', 'del-acl', 'del-header', 'del-headers-bin', 'del-map', 'replace-header', 'replace-value', 'sc-add-gpc', 'sc-inc-gpc', 'sc-inc-gpc0', 'sc-inc-gpc1', 'sc-set-gpt', 'sc-set-gpt0', 'set-header', 'set-headers-bin', 'set-log-level', 'set-map', 'set-status', 'set-var', 'set-var-fmt', 'strict-mode', 'unset-var', 'do-log', 'ot-group']
    var_expr: StrictStr | None = None
    var_format: StrictStr | None = None
    var_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    var_scope: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
