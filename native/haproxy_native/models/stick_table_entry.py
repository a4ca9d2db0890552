# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr

from . import gpc as gpc_1
from . import gpc_rate as gpc_rate_1
from . import gpt as gpt_1


class StickTableEntry(Model):
    """An entry of a stick table."""

    bytes_in_cnt: StrictInt | None = None
    """Bytes received since the entry was made."""
    bytes_in_rate: StrictInt | None = None
    """Bytes received within the period."""
    bytes_out_cnt: StrictInt | None = None
    """Bytes sent since the entry was made."""
    bytes_out_rate: StrictInt | None = None
    """Bytes sent within the period."""
    conn_cnt: StrictInt | None = None
    """Connections since the entry was made."""
    conn_cur: StrictInt | None = None
    """Connections now."""
    conn_rate: StrictInt | None = None
    """Connections within the period."""
    exp: StrictInt | None = None
    """Milliseconds until it expires."""
    glitch_cnt: StrictInt | None = None
    """Protocol glitches since the entry was made."""
    glitch_rate: StrictInt | None = None
    """Protocol glitches within the period."""
    gpc: gpc_1.Gpc | None = None
    """One of an array of general purpose counters."""
    gpc0: StrictInt | None = None
    """First general purpose counter."""
    gpc0_rate: StrictInt | None = None
    """Increments of the first general purpose counter within the period."""
    gpc1: StrictInt | None = None
    """Second general purpose counter."""
    gpc1_rate: StrictInt | None = None
    """Increments of the second general purpose counter within the period."""
    gpc_rate: gpc_rate_1.GpcRate | None = None
    """Increments within the period of one of an array of general purpose counters."""
    gpt: gpt_1.Gpt | None = None
    """One of an array of general purpose tags."""
    gpt0: StrictInt | None = None
    """First general purpose tag."""
    http_err_cnt: StrictInt | None = None
    """Requests in error since the entry was made."""
    http_err_rate: StrictInt | None = None
    """Requests in error within the period."""
    http_fail_cnt: StrictInt | None = None
    """Failed responses since the entry was made."""
    http_fail_rate: StrictInt | None = None
    """Failed responses within the period."""
    http_req_cnt: StrictInt | None = None
    """Requests since the entry was made."""
    http_req_rate: StrictInt | None = None
    """Requests within the period."""
    id: StrictStr | None = None
    """Where HAProxy keeps it."""
    key: StrictStr | None = None
    """The key."""
    server_id: StrictInt | None = None
    """Number of the server that the key sticks to."""
    sess_cnt: StrictInt | None = None
    """Sessions since the entry was made."""
    sess_rate: StrictInt | None = None
    """Sessions within the period."""
    use: StrictBool | None = None
    """Whether something refers to it now."""
