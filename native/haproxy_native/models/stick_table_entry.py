# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr

from . import gpc as gpc_1
from . import gpc_rate as gpc_rate_1
from . import gpt as gpt_1


class StickTableEntry(Model):
    bytes_in_cnt: StrictInt | None = None
    bytes_in_rate: StrictInt | None = None
    bytes_out_cnt: StrictInt | None = None
    bytes_out_rate: StrictInt | None = None
    conn_cnt: StrictInt | None = None
    conn_cur: StrictInt | None = None
    conn_rate: StrictInt | None = None
    exp: StrictInt | None = None
    glitch_cnt: StrictInt | None = None
    glitch_rate: StrictInt | None = None
    gpc: gpc_1.Gpc | None = None
    gpc0: StrictInt | None = None
    gpc0_rate: StrictInt | None = None
    gpc1: StrictInt | None = None
    gpc1_rate: StrictInt | None = None
    gpc_rate: gpc_rate_1.GpcRate | None = None
    gpt: gpt_1.Gpt | None = None
    gpt0: StrictInt | None = None
    http_err_cnt: StrictInt | None = None
    http_err_rate: StrictInt | None = None
    http_fail_cnt: StrictInt | None = None
    http_fail_rate: StrictInt | None = None
    http_req_cnt: StrictInt | None = None
    http_req_rate: StrictInt | None = None
    id: StrictStr | None = None
    key: StrictStr | None = None
    server_id: StrictInt | None = None
    sess_cnt: StrictInt | None = None
    sess_rate: StrictInt | None = None
    use: StrictBool | None = None
