# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class Originalto(Model):
    enabled: Literal['enabled']
    except_: Annotated[StrictStr | None, Field(alias='except', pattern='^[^\\s]+$')] = (
        None
    )
    header: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
