# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import reload_reason


class ReloadRecord(Model):
    id: Annotated[StrictStr, Field(pattern='^\\d{4}-\\d{2}-\\d{2}-\\d+$')]
    reasons: list[reload_reason.ReloadReason]
    refused: StrictStr | None = None
    reload_timestamp: StrictInt | None = None
    response: StrictStr | None = None
    restored_version: StrictInt | None = None
    status: Literal['failed', 'in_progress', 'succeeded']
    verified: StrictBool
    version: StrictInt | None = None
