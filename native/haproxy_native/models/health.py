# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model


class Health(Model):
    """Whether HAProxy runs."""

    haproxy: Literal['up', 'down', 'unknown'] | None = None
    """What the status command says; unknown without one."""
