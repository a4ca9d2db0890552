# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class PlanSet(Model):
    """A configuration and stored files, each under the file name of its part."""

    configuration: list[StrictStr] | None = None
    """Text of the configuration, or of each of its files that a file name names."""
    maps: list[bytes] | None = None
    """Map files."""
    acls: list[bytes] | None = None
    """Files of ACL patterns."""
    general: list[bytes] | None = None
    """General files."""
    ssl_certificates: list[bytes] | None = None
    """Certificates with their keys."""
    ssl_crt_lists: list[bytes] | None = None
    """Lists of certificates."""
