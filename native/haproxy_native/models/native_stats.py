# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import native_stat


class NativeStats(Model):
    """Counters of frontends, backends and servers."""

    error: StrictStr | None = None
    """Why there are none."""
    runtimeAPI: StrictStr | None = None
    """The socket that was asked."""
    stats: list[native_stat.NativeStat] | None = None
    """One element for each frontend, backend and server; absent where there is none."""
