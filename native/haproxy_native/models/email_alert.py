# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictStr


class EmailAlert(Model):
    from_: Annotated[StrictStr, Field(alias='from', pattern='^\\S+@\\S+$')]
    level: Literal['emerg', 'alert', 'crit', 'err', 'warning', 'notice', 'info', 'debug'] | None = (
        None
    )
    mailers: StrictStr
    metadata: dict[str, Any] | None = None
    myhostname: StrictStr | None = None
    to: Annotated[StrictStr, Field(pattern='^\\S+@\\S+$')]
