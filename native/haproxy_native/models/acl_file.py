# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class AclFile(Model):
    """An ACL of the running HAProxy (HAProxy Management Guide, 9.3 show acl)."""

    description: StrictStr | None = None
    """What HAProxy says of it."""
    id: StrictStr | None = None
    """Its number."""
    storage_name: StrictStr | None = None
    """Its file, or what it looks at when its patterns stand in the configuration."""
