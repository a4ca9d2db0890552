# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictBool, StrictStr

from . import access_rule


class Whoami(Model):
    """A caller."""

    name: StrictStr
    """Name of the user, or of the client certificate; empty for neither."""
    address: StrictStr
    """Its address, or unix."""
    limited: StrictBool
    """Whether the settings have roles. Without them every caller may do everything."""
    read_only: StrictBool | None = None
    """Whether nothing can be changed here; absent where it can."""
    roles: list[StrictStr] | None = None
    """Its roles."""
    rules: list[access_rule.AccessRule] | None = None
    """What they allow."""
    token: StrictStr | None = None
    """Id of the token that it comes with."""
    creator: StrictStr | None = None
    """Who has created that token, and limits what it may do."""
    expires: AwareDatetime | None = None
    """When that token ends."""
