# Generated from openapi/ by `make generate`; do not edit.

from typing import Any, Literal

from haproxy_native.models import Model, Whole
from pydantic import StrictStr

from . import return_header


class HttpErrorRule(Model):
    """The answer to a status, one http-error line (HAProxy Configuration Manual, section 4.2)."""

    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the line."""
    return_content: StrictStr | None = None
    """File, name or text of the answer, by its format; several words come quoted."""
    return_content_format: Literal['default-errorfiles', 'errorfile', 'errorfiles', 'file', 'lf-file', 'string', 'lf-string'] | None = (
        None
    )
    """What the content of the answer is: files, an error page, a text, a log-format text."""
    return_content_type: StrictStr | None = None
    """MIME type of the answer."""
    return_hdrs: list[return_header.ReturnHeader] | None = None
    """Header fields added to the answer."""
    status: Whole[Literal[200, 400, 401, 403, 404, 405, 407, 408, 410, 413, 425, 429, 500, 501, 502, 503, 504]]
    """Status that the answer replaces."""
    type: Literal['status']
    """What the rule answers to."""
