# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model, Whole
from pydantic import StrictStr


class Errorloc(Model):
    """Redirect that is sent in place of an error (HAProxy Configuration Manual, section 4.2 \"errorloc302\")."""

    code: Whole[Literal[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504]]
    """Status in whose place it is sent."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    url: StrictStr
    """Where clients are sent."""
