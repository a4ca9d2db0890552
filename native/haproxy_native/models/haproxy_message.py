# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class HaproxyMessage(Model):
    """One line that HAProxy prints about a configuration."""

    file: StrictStr | None = None
    """Path of the file that it is about."""
    line: Annotated[StrictInt | None, Field(ge=1)] = None
    """Place in that file, from 1."""
    section: StrictStr | None = None
    """Header of the section that the line stands in."""
    severity: Literal['alert', 'warning', 'notice', 'diag']
    """How bad it is."""
    source: StrictStr | None = None
    """The line itself."""
    text: StrictStr
    """The message itself."""
