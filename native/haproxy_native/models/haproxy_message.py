# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class HaproxyMessage(Model):
    file: StrictStr | None = None
    line: Annotated[StrictInt | None, Field(ge=1)] = None
    section: StrictStr | None = None
    severity: Literal['alert', 'warning', 'notice', 'diag']
    source: StrictStr | None = None
    text: StrictStr
