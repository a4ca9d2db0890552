# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import sample as sample_1


class FcgiLogStderr(Model):
    """Where error output goes, one log-stderr line."""

    address: StrictStr | None = None
    """Address with port, UNIX path, fd@ or ring@."""
    facility: StrictStr | None = None
    """Facility of syslog."""
    format: StrictStr | None = None
    """Format of the messages."""
    global_: Annotated[StrictBool | None, Field(alias='global')] = None
    """Whether the targets of the global section are meant."""
    len: StrictInt | None = None
    """Bytes of a message at most."""
    level: StrictStr | None = None
    """Least urgent level that is sent."""
    minlevel: StrictStr | None = None
    """Most urgent level that messages are sent as."""
    sample: sample_1.Sample | None = None
    """Which messages are sent."""
