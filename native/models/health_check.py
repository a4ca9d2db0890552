# Generated from openapi/ by `make generate`; do not edit.

from native.models import Model


class HealthCheck(Model):
    pass
