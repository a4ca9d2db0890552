# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model, Whole
from pydantic import StrictStr


class Errorfile(Model):
    """File that is sent in place of an error, an errorfile line (HAProxy Configuration Manual, section 4.2)."""

    code: Whole[Literal[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504]] | None = (
        None
    )
    """Status in whose place it is sent."""
    file: StrictStr | None = None
    """Path of the file with the whole response."""
