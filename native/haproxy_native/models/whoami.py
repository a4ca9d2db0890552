# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictStr

from . import access_rule


class Whoami(Model):
    """A caller."""

    name: StrictStr
    """Name of the user, or of the client certificate; empty for neither."""
    address: StrictStr
    """Its address, or unix."""
    limited: StrictBool
    """Whether the settings have roles. Without them every caller may do everything."""
    roles: list[StrictStr] | None = None
    """Its roles."""
    rules: list[access_rule.AccessRule] | None = None
    """What they allow."""
