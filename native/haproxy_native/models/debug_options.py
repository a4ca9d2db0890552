# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt


class DebugOptions(Model):
    anonkey: Annotated[StrictInt | None, Field(ge=0, le=4294967295)] = None
    quiet: StrictBool | None = None
    stress_level: Annotated[StrictInt | None, Field(ge=0, le=9)] = None
    zero_warning: StrictBool | None = None
