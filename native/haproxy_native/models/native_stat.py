# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr

from . import native_stat_stats


class NativeStat(Model):
    """Counters of one frontend, backend or server."""

    backend_name: StrictStr | None = None
    """Backend of the server."""
    name: StrictStr | None = None
    """Name of the frontend, backend or server."""
    stats: native_stat_stats.NativeStatStats | None = None
    """The counters."""
    type: Literal['backend', 'server', 'frontend'] | None = None
    """What it is."""
