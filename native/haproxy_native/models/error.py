# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import ConfigDict, StrictInt, StrictStr


class Error(Model):
    model_config = ConfigDict(
        extra='allow',
    )
    __pydantic_extra__: dict[str, StrictStr]
    code: StrictInt
    message: StrictStr
