# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr

from . import fcgi_log_stderr, fcgi_pass_header, fcgi_set_param


class FcgiAppBase(Model):
    """A FastCGI application, one fcgi-app section (HAProxy Configuration Manual, section 10.1)."""

    docroot: StrictStr
    """Directory of its documents on the remote side."""
    get_values: Literal['enabled', 'disabled'] | None = None
    """Whether it is asked for its limits."""
    index: StrictStr | None = None
    """Script for URIs that end with /."""
    keep_conn: Literal['enabled', 'disabled'] | None = None
    """Whether connections are kept."""
    log_stderrs: list[fcgi_log_stderr.FcgiLogStderr] | None = None
    """Where its error output goes."""
    max_reqs: Annotated[StrictInt | None, Field(ge=1)] = None
    """Requests at a time on a connection."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    mpxs_conns: Literal['enabled', 'disabled'] | None = None
    """Whether a connection carries several requests."""
    name: Annotated[StrictStr, Field(pattern='^[^\\s]+$')]
    """Name of the application."""
    pass_headers: list[fcgi_pass_header.FcgiPassHeader] | None = None
    """Header fields that are passed on though they are not by default."""
    path_info: StrictStr | None = None
    """Regular expression that takes script name and path info apart."""
    set_params: list[fcgi_set_param.FcgiSetParam] | None = None
    """Parameters that are set."""
