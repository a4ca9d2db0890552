# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictStr


class Forwardfor(Model):
    """Header that tells servers the client's address (HAProxy Configuration Manual, section 4.2 \"option forwardfor\")."""

    enabled: Literal['enabled']
    """Whether the header is added."""
    except_: Annotated[StrictStr | None, Field(alias='except', pattern='^[^\\s]+$')] = (
        None
    )
    """Network of clients for which it is not added."""
    header: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name in place of X-Forwarded-For."""
    ifnone: StrictBool | None = None
    """Whether it is added only where there is none yet."""
