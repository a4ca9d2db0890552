# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr


class ReloadReason(Model):
    """One change that HAProxy cannot take live."""

    keyword: StrictStr | None = None
    """First word of the line."""
    file: StrictStr | None = None
    """File that it stands in, where that is not the main one."""
    line: Annotated[StrictInt | None, Field(ge=1)] = None
    """Line of the file."""
    reason: StrictStr
    """Why it cannot be done live."""
    remedy: StrictStr | None = None
    """An edit after which changes like this one take no reload, where there is one."""
    section: StrictStr | None = None
    """Header of the section that it stands in."""
