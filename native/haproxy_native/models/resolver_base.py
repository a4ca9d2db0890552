# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class ResolverBase(Model):
    accepted_payload_size: Annotated[StrictInt | None, Field(ge=512, le=8192)] = None
    hold_nx: Annotated[StrictInt | None, Field(ge=0)] = None
    hold_obsolete: Annotated[StrictInt | None, Field(ge=0)] = None
    hold_other: Annotated[StrictInt | None, Field(ge=0)] = None
    hold_refused: Annotated[StrictInt | None, Field(ge=0)] = None
    hold_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    hold_valid: Annotated[StrictInt | None, Field(ge=0)] = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    parse_resolv_conf: Annotated[
        StrictBool | None, Field(alias='parse-resolv-conf')
    ] = None
    resolve_retries: Annotated[StrictInt | None, Field(ge=1)] = None
    timeout_resolve: Annotated[StrictInt | None, Field(ge=0)] = None
    timeout_retry: Annotated[StrictInt | None, Field(ge=0)] = None
