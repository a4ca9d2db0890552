# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class AclFileEntry(Model):
    """A pattern of an ACL."""

    id: StrictStr | None = None
    """Reference by which HAProxy knows it."""
    value: StrictStr | None = None
    """The pattern."""
