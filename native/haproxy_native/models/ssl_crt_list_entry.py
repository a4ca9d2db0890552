# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class SslCrtListEntry(Model):
    """One line of a certificate list (HAProxy Configuration Manual, section 5.1, crt-list)."""

    file: StrictStr | None = None
    """Path or name of the certificate."""
    line_number: Annotated[StrictInt | None, Field(ge=0)] = None
    """Number of the line in the list."""
    sni_filter: list[StrictStr] | None = None
    """Server names that the line is for, or is not for."""
    ssl_bind_config: StrictStr | None = None
    """TLS settings of the line, as they stand in brackets."""
