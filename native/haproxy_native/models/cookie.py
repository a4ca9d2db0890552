# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import attr_item, domain_item


class Cookie(Model):
    """How a cookie keeps clients with their server, the cookie line (HAProxy Configuration Manual, section 4.2)."""

    attr: list[attr_item.AttrItem] | None = None
    """Attributes that are added to the cookie as they are."""
    domain: list[domain_item.DomainItem] | None = None
    """Domains for which clients send the cookie."""
    dynamic: StrictBool | None = None
    """Whether its value is made from the server's address and a secret."""
    httponly: StrictBool | None = None
    """Whether scripts may not read it."""
    indirect: StrictBool | None = None
    """Whether servers do not see it."""
    maxidle: StrictInt | None = None
    """Seconds without a request after which it counts no more."""
    maxlife: StrictInt | None = None
    """Seconds after which it counts no more."""
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """What it is called."""
    nocache: StrictBool | None = None
    """Whether responses that set it are marked as not to be cached."""
    postonly: StrictBool | None = None
    """Whether it is set in answers to POST requests only."""
    preserve: StrictBool | None = None
    """Whether a server may set or remove it itself."""
    secure: StrictBool | None = None
    """Whether clients send it only over TLS."""
    type: Literal['rewrite', 'insert', 'prefix'] | None = None
    """Who writes it, and where."""
