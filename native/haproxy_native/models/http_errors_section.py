# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import errorfile


class HttpErrorsSection(Model):
    """Responses to errors, one http-errors section (HAProxy Configuration Manual 2.6, section 3.8)."""

    error_files: list[errorfile.Errorfile]
    """File of each status."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_]+$')]
    """Name of the section."""
