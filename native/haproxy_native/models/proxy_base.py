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
    abortonclose: Literal['enabled', 'disabled'] | None = None
    compression: compression_1.Compression | None = None
    disabled: StrictBool | None = None
    email_alert: email_alert_1.EmailAlert | None = None
    enabled: StrictBool | None = None
    error_files: list[errorfile.Errorfile] | None = None
    errorfiles_from_http_errors: list[errorfiles.Errorfiles] | None = None
    errorloc: errorloc_1.Errorloc | None = None
    errorloc302: errorloc_1.Errorloc | None = None
    errorloc303: errorloc_1.Errorloc | None = None
    forwarded: forwarded_1.Forwarded | None = None
    forwardfor: forwardfor_1.Forwardfor | None = None
    from_: Annotated[
        StrictStr | None, Field(alias='from', pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    http_buffer_request: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-buffer-request')
    ] = None
    http_connection_mode: Literal['httpclose', 'http-server-close', 'http-keep-alive'] | None = (
        None
    )
    http_keep_alive_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    http_request_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    http_restrict_req_hdr_names: Literal['preserve', 'delete', 'reject'] | None = None
    independent_streams: Literal['enabled', 'disabled'] | None = None
    metadata: dict[str, Any] | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    nolinger: Literal['enabled', 'disabled'] | None = None
    originalto: originalto_1.Originalto | None = None
    splice_auto: Literal['enabled', 'disabled'] | None = None
    splice_request: Literal['enabled', 'disabled'] | None = None
    splice_response: Literal['enabled', 'disabled'] | None = None
    stats_options: stats_options_1.StatsOptions | None = None
    tarpit_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    tcpka: Literal['enabled', 'disabled'] | None = None
