# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import process_info_item


class ProcessInfo(Model):
    error: StrictStr | None = None
    info: process_info_item.ProcessInfoItem | None = None
    runtimeAPI: StrictStr | None = None
