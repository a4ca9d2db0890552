# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictBool, StrictInt, StrictStr


class AccessAnswer(Model):
    """What would become of a call."""

    allowed: StrictBool
    """Whether it would be made."""
    reload: StrictBool | None = None
    """Whether HAProxy would be reloaded; absent where that is not known before."""
    code: StrictInt | None = None
    """The status of its answer."""
    reason: StrictStr | None = None
    """The message of its answer."""
