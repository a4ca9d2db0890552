# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class H1CaseAdjustItem(Model):
    from_: Annotated[StrictStr, Field(alias='from')]
    to: StrictStr
