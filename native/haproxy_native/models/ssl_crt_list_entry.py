# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class SslCrtListEntry(Model):
    file: StrictStr | None = None
    line_number: Annotated[StrictInt | None, Field(ge=0)] = None
    sni_filter: list[StrictStr] | None = None
    ssl_bind_config: StrictStr | None = None
