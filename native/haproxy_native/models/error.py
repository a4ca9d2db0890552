# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import ConfigDict, StrictInt, StrictStr


class Error(Model):
    """Why a request failed."""

    model_config = ConfigDict(
        extra='allow',
    )
    __pydantic_extra__: dict[str, StrictStr]
    code: StrictInt
    """Status of the answer."""
    message: StrictStr
    """What was wrong, and what helps."""
