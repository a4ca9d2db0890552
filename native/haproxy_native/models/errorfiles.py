# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model, Whole
from pydantic import StrictStr


class Errorfiles(Model):
    codes: list[Whole[Literal[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504]]] | None = (
        None
    )
    metadata: dict[str, Any] | None = None
    name: StrictStr | None = None
