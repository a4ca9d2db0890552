# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class AclFileEntry(Model):
    """A pattern of an ACL."""

    id: StrictStr | None = None
    """Its reference in HAProxy."""
    value: StrictStr | None = None
    """The pattern."""
