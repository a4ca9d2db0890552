# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class MonitorFail(Model):
    """When monitors get a failure, a monitor fail line (HAProxy Configuration Manual, section 4.2)."""

    cond: Literal['if', 'unless']
    """Whether the test has to hold or to fail."""
    cond_test: StrictStr
    """ACLs that are tested."""
