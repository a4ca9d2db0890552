# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model

from . import confirmation_count


class ConfirmationTraffic(Model):
    """What they have answered."""

    frontends: confirmation_count.ConfirmationCount | None = None
    backends: confirmation_count.ConfirmationCount | None = None
