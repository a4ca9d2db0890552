# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictFloat, StrictInt, StrictStr

from . import reload_reason


class ReloadRecord(Model):
    continued_in: StrictStr | None = None
    ended: StrictFloat | None = None
    error: StrictStr | None = None
    id: Annotated[StrictStr, Field(pattern='^\\d{4}-\\d{2}-\\d{2}-\\d+$')]
    pid_after: StrictInt | None = None
    pid_before: StrictInt | None = None
    reasons: list[reload_reason.ReloadReason]
    refused: StrictStr | None = None
    reload_timestamp: StrictInt | None = None
    requested: StrictFloat
    response: StrictStr | None = None
    restored_version: StrictInt | None = None
    started: StrictFloat | None = None
    status: Literal['failed', 'in_progress', 'succeeded']
    origins: list[dict[str, StrictStr]] | None = None
    verified: StrictBool
    version: StrictInt | None = None
