# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class StatsAuth(Model):
    """A user of the statistics page, a stats auth line (HAProxy Configuration Manual, section 4.2)."""

    passwd: StrictStr
    """Password as clear text."""
    user: StrictStr
    """What the user is called."""
