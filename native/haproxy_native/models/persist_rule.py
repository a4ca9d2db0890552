# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class PersistRule(Model):
    """Persistence by something else than a cookie, a persist line (HAProxy Configuration Manual, section 4.2)."""

    rdp_cookie_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """RDP cookie in place of msts."""
    type: Literal['rdp-cookie']
    """What keeps the client with its server."""
