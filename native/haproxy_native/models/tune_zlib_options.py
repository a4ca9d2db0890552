# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt


class TuneZlibOptions(Model):
    memlevel: Annotated[StrictInt | None, Field(ge=1, le=9)] = None
    windowsize: Annotated[StrictInt | None, Field(ge=8, le=15)] = None
