# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr

from . import native_stat_stats


class NativeStat(Model):
    backend_name: StrictStr | None = None
    name: StrictStr | None = None
    stats: native_stat_stats.NativeStatStats | None = None
    type: Literal['backend', 'server', 'frontend'] | None = None
