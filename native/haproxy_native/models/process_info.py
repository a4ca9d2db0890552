# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import process_info_item


class ProcessInfo(Model):
    """Facts about the process that answers."""

    error: StrictStr | None = None
    """Why there is no information."""
    info: process_info_item.ProcessInfoItem | None = None
    """The facts."""
    runtimeAPI: StrictStr | None = None
    """The socket that was asked."""
