# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class Originalto(Model):
    """Header that tells servers the original destination (HAProxy Configuration Manual, section 4.2 \"option originalto\")."""

    enabled: Literal['enabled']
    """Whether the header is added."""
    except_: Annotated[StrictStr | None, Field(alias='except', pattern='^[^\\s]+$')] = (
        None
    )
    """Network of destinations for which it is not added."""
    header: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name in place of X-Original-To."""
