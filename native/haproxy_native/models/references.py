# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr

from . import reference


class References(Model):
    """The places that name an object."""

    references: list[reference.Reference]
    """Those of the configuration in its order, then those of stored files."""
    not_followed: list[reference.Reference]
    """What may name it and cannot be followed: names that are made when a request comes, Lua, SPOE files."""
    used_by: list[StrictStr]
    """Splits and definitions of service discovery that use the object by its name, which a limited caller is not shown."""
