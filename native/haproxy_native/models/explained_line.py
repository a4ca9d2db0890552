# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class ExplainedLine(Model):
    """A line of the configuration."""

    file: StrictStr | None = None
    """Its file, absent for the main one."""
    line: StrictInt
    """Its number in the file, from 1."""
    text: StrictStr
    """The line."""
    section: StrictStr
    """The header of its section."""
