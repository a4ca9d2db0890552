# Generated from openapi/ by `make generate`; do not edit.

from haproxy_native.models import Model
from pydantic import StrictStr


class PgsqlCheckParams(Model):
    """Login of PostgreSQL health checks (HAProxy Configuration Manual, section 4.2 \"option pgsql-check\")."""

    username: StrictStr | None = None
    """User of the login."""
