# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictFloat
from typing_extensions import TypeAliasType

WeightsAdditionalProperty = TypeAliasType(
    "WeightsAdditionalProperty", Annotated[StrictFloat, Field(ge=0.0, le=1000000000.0)]
)
