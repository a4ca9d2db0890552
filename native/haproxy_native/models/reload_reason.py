# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class ReloadReason(Model):
    keyword: StrictStr | None = None
    file: StrictStr | None = None
    line: Annotated[StrictInt | None, Field(ge=1)] = None
    reason: StrictStr
    section: StrictStr | None = None
