# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any

from haproxy_native.models import Model
from pydantic import Field, StrictStr

from . import errorfile


class HttpErrorsSection(Model):
    error_files: list[errorfile.Errorfile]
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_]+$')]
