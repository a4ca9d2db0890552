# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import load, prepend_path_item


class LuaOptions(Model):
    load_per_thread: StrictStr | None = None
    loads: list[load.Load] | None = None
    prepend_path: list[prepend_path_item.PrependPathItem] | None = None
