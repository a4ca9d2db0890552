# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class MysqlCheckParams(Model):
    """Login of MySQL health checks (HAProxy Configuration Manual, section 4.2 \"option mysql-check\")."""

    client_version: Literal['pre-41', 'post-41'] | None = None
    """Protocol before or since MySQL 4.1."""
    username: StrictStr | None = None
    """User of the login."""
