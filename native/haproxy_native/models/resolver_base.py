# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class ResolverBase(Model):
    """How names are resolved, one resolvers section (HAProxy Configuration Manual, section 5.3)."""

    accepted_payload_size: Annotated[StrictInt | None, Field(ge=512, le=8192)] = None
    """Bytes of an answer at most."""
    hold_nx: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time an address is kept after \"no such name\". In milliseconds."""
    hold_obsolete: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time an address is kept that answers no longer have. In milliseconds."""
    hold_other: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time an address is kept after another error. In milliseconds."""
    hold_refused: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time an address is kept after a refusal. In milliseconds."""
    hold_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time an address is kept without an answer. In milliseconds."""
    hold_valid: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time a good answer is kept. In milliseconds."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    """Name of the section."""
    parse_resolv_conf: Annotated[
        StrictBool | None, Field(alias='parse-resolv-conf')
    ] = None
    """Whether the name servers of /etc/resolv.conf are used, too."""
    resolve_retries: Annotated[StrictInt | None, Field(ge=1)] = None
    """Queries sent before giving up."""
    timeout_resolve: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time between two resolutions. In milliseconds."""
    timeout_retry: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time after which a query is sent again. In milliseconds."""
