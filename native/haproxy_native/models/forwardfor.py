# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictStr


class Forwardfor(Model):
    enabled: Literal['enabled']
    except_: Annotated[StrictStr | None, Field(alias='except', pattern='^[^\\s]+$')] = (
        None
    )
    header: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ifnone: StrictBool | None = None
