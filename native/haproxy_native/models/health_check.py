# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model


class HealthCheck(Model):
    """A healthcheck section."""

    pass
