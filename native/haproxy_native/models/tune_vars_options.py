# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt


class TuneVarsOptions(Model):
    """Bytes that variables may take (HAProxy Configuration Manual, section 3.2)."""

    check_max_size: StrictInt | None = None
    """Those of a health check."""
    global_max_size: StrictInt | None = None
    """All together."""
    proc_max_size: StrictInt | None = None
    """Those of the process."""
    reqres_max_size: StrictInt | None = None
    """Those of a request and its response."""
    sess_max_size: StrictInt | None = None
    """Those of a session."""
    txn_max_size: StrictInt | None = None
    """Those of a transaction."""
