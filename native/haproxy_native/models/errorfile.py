# Generated from openapi/ by `make generate`; do not edit.

from typing import Literal

from haproxy_native.models import Model, Whole
from pydantic import StrictStr


class Errorfile(Model):
    code: Whole[Literal[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504]] | None = (
        None
    )
    file: StrictStr | None = None
