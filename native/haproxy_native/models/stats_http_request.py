# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model
from pydantic import StrictStr


class StatsHttpRequest(Model):
    """A rule of access to the statistics page (HAProxy Configuration Manual, section 4.2 \"stats http-request\")."""

    cond: Literal['if', 'unless'] | None = None
    """Whether the test has to hold or to fail."""
    cond_test: StrictStr | None = None
    """ACLs that are tested."""
    realm: StrictStr | None = None
    """Realm that the login prompt shows."""
    type: Literal['allow', 'deny', 'auth']
    """What happens to the request."""
