# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class Endpoint(Model):
    """One path below another."""

    description: StrictStr | None = None
    """What is found there."""
    title: StrictStr | None = None
    """Summary of the path's reading operation."""
    url: StrictStr | None = None
    """Path below the base path."""
