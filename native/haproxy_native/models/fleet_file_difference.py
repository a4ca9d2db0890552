# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class FleetFileDifference(Model):
    """A stored file that only one side has, or that differs."""

    store: Literal['maps', 'acls', 'general', 'ssl_certificates', 'ssl_crt_lists']
    """Kind of the file."""
    name: StrictStr
    """Name of the file."""
    change: Literal['added', 'removed', 'changed']
    """What happened to the file since the release."""
