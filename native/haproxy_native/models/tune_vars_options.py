# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt


class TuneVarsOptions(Model):
    check_max_size: StrictInt | None = None
    global_max_size: StrictInt | None = None
    proc_max_size: StrictInt | None = None
    reqres_max_size: StrictInt | None = None
    sess_max_size: StrictInt | None = None
    txn_max_size: StrictInt | None = None
