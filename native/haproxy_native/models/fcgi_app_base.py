# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr

from . import fcgi_log_stderr, fcgi_pass_header, fcgi_set_param


class FcgiAppBase(Model):
    docroot: StrictStr
    get_values: Literal['enabled', 'disabled'] | None = None
    index: StrictStr | None = None
    keep_conn: Literal['enabled', 'disabled'] | None = None
    log_stderrs: list[fcgi_log_stderr.FcgiLogStderr] | None = None
    max_reqs: Annotated[StrictInt | None, Field(ge=1)] = None
    metadata: dict[str, Any] | None = None
    mpxs_conns: Literal['enabled', 'disabled'] | None = None
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    pass_headers: list[fcgi_pass_header.FcgiPassHeader] | None = None
    path_info: StrictStr | None = None
    set_params: list[fcgi_set_param.FcgiSetParam] | None = None
