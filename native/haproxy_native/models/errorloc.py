# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model, Whole
from pydantic import StrictStr


class Errorloc(Model):
    code: Whole[Literal[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504]]
    metadata: dict[str, Any] | None = None
    url: StrictStr
