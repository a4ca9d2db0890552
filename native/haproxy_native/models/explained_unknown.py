# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictInt, StrictStr


class ExplainedUnknown(Model):
    """A line whose effect depends on what is not known here."""

    file: StrictStr | None = None
    """Its file, absent for the main one."""
    line: StrictInt
    """Its number in the file, from 1."""
    text: StrictStr
    """The line."""
    section: StrictStr
    """The header of its section."""
    why: StrictStr
    """What it depends on."""
