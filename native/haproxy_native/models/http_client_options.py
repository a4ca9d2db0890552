# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class HttpClientOptions(Model):
    resolvers_disabled: Literal['enabled', 'disabled'] | None = None
    resolvers_id: StrictStr | None = None
    resolvers_prefer: Literal['ipv4', 'ipv6'] | None = None
    retries: StrictInt | None = None
    ssl_ca_file: StrictStr | None = None
    ssl_verify: Literal['', 'none', 'required'] | None = None
    timeout_connect: Annotated[StrictInt | None, Field(ge=0)] = None
