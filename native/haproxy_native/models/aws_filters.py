# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class AwsFilters(Model):
    """A filter of EC2."""

    key: StrictStr
    """Name of the filter."""
    value: StrictStr
    """Value that it compares with."""
