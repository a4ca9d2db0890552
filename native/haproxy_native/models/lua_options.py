# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import load, prepend_path_item


class LuaOptions(Model):
    """Lua scripts (HAProxy Configuration Manual, section 3.1)."""

    load_per_thread: StrictStr | None = None
    """File, and its arguments, that each thread runs for itself."""
    loads: list[load.Load] | None = None
    """Files that are run once."""
    prepend_path: list[prepend_path_item.PrependPathItem] | None = None
    """Where modules are looked for first."""
