# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import AwareDatetime, StrictInt, StrictStr


class BlamedLine(Model):
    """A line of a section."""

    line: StrictInt
    """Number in the file, from 1."""
    text: StrictStr
    """The line."""
    entry: StrictStr | None = None
    """Id of the change that it is from."""
    time: AwareDatetime | None = None
    """When that was made."""
    author: StrictStr | None = None
    """By whom."""
    message: StrictStr | None = None
    """Why."""
