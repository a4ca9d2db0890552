# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictInt


class Field(Model):
    field: Literal['bytes_in_cnt', 'bytes_in_rate', 'bytes_out_cnt', 'bytes_out_rate', 'conn_cnt', 'conn_cur', 'conn_rate', 'glitch_cnt', 'glitch_rate', 'gpc', 'gpc_rate', 'gpc0', 'gpc0_rate', 'gpc1', 'gpc1_rate', 'gpt0', 'gpt', 'http_req_cnt', 'http_req_rate', 'http_err_cnt', 'http_err_rate', 'http_fail_cnt', 'http_fail_rate', 'server_id', 'sess_cnt', 'sess_rate'] | None = (
        None
    )
    idx: StrictInt | None = None
    period: StrictInt | None = None
    type: Literal['rate', 'counter'] | None = None
