# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import compression as compression_1
from . import email_alert as email_alert_1
from . import errorfile, errorfiles
from . import errorloc as errorloc_1
from . import forwarded as forwarded_1
from . import forwardfor as forwardfor_1
from . import originalto as originalto_1
from . import stats_options as stats_options_1


class ProxyBase(Model):
    """Members of defaults, frontend and backend sections alike (HAProxy Configuration Manual, section 4.1)."""

    abortonclose: Literal['enabled', 'disabled'] | None = None
    """Whether queued requests of clients that went away are dropped."""
    compression: compression_1.Compression | None = None
    disabled: StrictBool | None = None
    """Whether the proxy is not started."""
    email_alert: email_alert_1.EmailAlert | None = None
    enabled: StrictBool | None = None
    """Whether the proxy is started, against disabled defaults."""
    error_files: list[errorfile.Errorfile] | None = None
    """Files that are sent in place of errors."""
    errorfiles_from_http_errors: list[errorfiles.Errorfiles] | None = None
    """Files of http-errors sections that are sent in place of errors."""
    errorloc: errorloc_1.Errorloc | None = None
    errorloc302: errorloc_1.Errorloc | None = None
    errorloc303: errorloc_1.Errorloc | None = None
    forwarded: forwarded_1.Forwarded | None = None
    forwardfor: forwardfor_1.Forwardfor | None = None
    from_: Annotated[
        StrictStr | None, Field(alias='from', pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    """Defaults section that it inherits from."""
    http_buffer_request: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-buffer-request')
    ] = None
    """Whether the whole body, or a full buffer of it, is waited for."""
    http_connection_mode: Literal['httpclose', 'http-server-close', 'http-keep-alive'] | None = (
        None
    )
    """What becomes of connections after a response."""
    http_keep_alive_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds that the next request of a connection may take to come."""
    http_request_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds that a whole request may take to come."""
    http_restrict_req_hdr_names: Literal['preserve', 'delete', 'reject'] | None = None
    """What happens to headers with characters other than letters, digits and dashes."""
    independent_streams: Literal['enabled', 'disabled'] | None = None
    """Whether writing does not count as activity for reading."""
    metadata: dict[str, Any] | None = None
    """JSON object that is kept as the comment of the section line."""
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    """What the section is called."""
    nolinger: Literal['enabled', 'disabled'] | None = None
    """Whether connections are dropped at once when they are closed."""
    originalto: originalto_1.Originalto | None = None
    splice_auto: Literal['enabled', 'disabled'] | None = None
    """Whether the kernel may move data in either direction as it seems best."""
    splice_request: Literal['enabled', 'disabled'] | None = None
    """Whether the kernel may move the data of requests."""
    splice_response: Literal['enabled', 'disabled'] | None = None
    """Whether the kernel may move the data of responses."""
    stats_options: stats_options_1.StatsOptions | None = None
    tarpit_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds that tarpitted connections are held."""
    tcpka: Literal['enabled', 'disabled'] | None = None
    """Whether TCP keep-alive packets go to both sides."""
