# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import native_stat


class NativeStats(Model):
    error: StrictStr | None = None
    runtimeAPI: StrictStr | None = None
    stats: list[native_stat.NativeStat] | None = None
