# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model, Whole
from pydantic import StrictStr


class Errorfiles(Model):
    """Files of an http-errors section that are used (HAProxy Configuration Manual, section 4.2 \"errorfiles\")."""

    codes: list[Whole[Literal[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504]]] | None = (
        None
    )
    """Status codes that are taken over; all without any."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    name: StrictStr | None = None
    """What the http-errors section is called."""
