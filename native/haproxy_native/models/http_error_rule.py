# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model, Whole
from pydantic import StrictStr

from . import return_header


class HttpErrorRule(Model):
    metadata: dict[str, Any] | None = None
    return_content: StrictStr | None = None
    return_content_format: Literal['default-errorfiles', 'errorfile', 'errorfiles', 'file', 'lf-file', 'string', 'lf-string'] | None = (
        None
    )
    return_content_type: StrictStr | None = None
    return_hdrs: list[return_header.ReturnHeader] | None = None
    status: Whole[Literal[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504]]
    type: Literal['status']
