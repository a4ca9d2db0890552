# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import compression as compression_1
from . import config_stick_table
from . import email_alert as email_alert_1
from . import errorfile, errorfiles, errorloc
from . import forwarded as forwarded_1
from . import forwardfor as forwardfor_1
from . import monitor_fail as monitor_fail_1
from . import monitor_uri as monitor_uri_1
from . import originalto as originalto_1
from . import stats_options as stats_options_1


class FrontendBase(Model):
    abortonclose: Literal['enabled', 'disabled'] | None = None
    accept_invalid_http_request: Literal['enabled', 'disabled'] | None = None
    accept_unsafe_violations_in_http_request: Literal['enabled', 'disabled'] | None = (
        None
    )
    backlog: StrictInt | None = None
    clflog: StrictBool | None = None
    client_fin_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    client_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    clitcpka: Literal['enabled', 'disabled'] | None = None
    clitcpka_cnt: StrictInt | None = None
    clitcpka_idle: StrictInt | None = None
    clitcpka_intvl: StrictInt | None = None
    compression: compression_1.Compression | None = None
    contstats: Literal['enabled'] | None = None
    default_backend: Annotated[
        StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    description: StrictStr | None = None
    disable_h2_upgrade: Literal['enabled', 'disabled'] | None = None
    disabled: StrictBool | None = None
    dontlog_normal: Literal['enabled', 'disabled'] | None = None
    dontlognull: Literal['enabled', 'disabled'] | None = None
    email_alert: email_alert_1.EmailAlert | None = None
    enabled: StrictBool | None = None
    error_files: list[errorfile.Errorfile] | None = None
    error_log_format: StrictStr | None = None
    errorfiles_from_http_errors: list[errorfiles.Errorfiles] | None = None
    errorloc302: errorloc.Errorloc | None = None
    errorloc303: errorloc.Errorloc | None = None
    forwarded: forwarded_1.Forwarded | None = None
    forwardfor: forwardfor_1.Forwardfor | None = None
    from_: Annotated[
        StrictStr | None, Field(alias='from', pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    h1_case_adjust_bogus_client: Literal['enabled', 'disabled'] | None = None
    http_buffer_request: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-buffer-request')
    ] = None
    http_drop_response_trailers: Annotated[
        Literal['enabled', 'disabled'] | None,
        Field(alias='http-drop-response-trailers'),
    ] = None
    http_connection_mode: Literal['httpclose', 'http-server-close', 'http-keep-alive'] | None = (
        None
    )
    http_ignore_probes: Literal['enabled', 'disabled'] | None = None
    http_keep_alive_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    http_no_delay: Literal['enabled', 'disabled'] | None = None
    http_request_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    http_restrict_req_hdr_names: Literal['preserve', 'delete', 'reject'] | None = None
    http_use_proxy_header: Literal['enabled', 'disabled'] | None = None
    httplog: StrictBool | None = None
    httpslog: Literal['enabled', 'disabled'] | None = None
    id: StrictInt | None = None
    idle_close_on_response: Literal['enabled', 'disabled'] | None = None
    independent_streams: Literal['enabled', 'disabled'] | None = None
    log_format: StrictStr | None = None
    log_format_sd: StrictStr | None = None
    log_separate_errors: Literal['enabled', 'disabled'] | None = None
    log_steps: list[Literal['accept', 'request', 'connect', 'response', 'close', 'error', 'any']] | None = (
        None
    )
    log_tag: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:${}"]+$')] = None
    logasap: Literal['enabled', 'disabled'] | None = None
    maxconn: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    mode: Literal['http', 'tcp'] | None = None
    monitor_fail: monitor_fail_1.MonitorFail | None = None
    monitor_uri: monitor_uri_1.MonitorUri | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    nolinger: Literal['enabled', 'disabled'] | None = None
    originalto: originalto_1.Originalto | None = None
    socket_stats: Literal['enabled', 'disabled'] | None = None
    splice_auto: Literal['enabled', 'disabled'] | None = None
    splice_request: Literal['enabled', 'disabled'] | None = None
    splice_response: Literal['enabled', 'disabled'] | None = None
    stats_options: stats_options_1.StatsOptions | None = None
    stick_table: config_stick_table.ConfigStickTable | None = None
    tarpit_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    tcp_smart_accept: Literal['enabled', 'disabled'] | None = None
    tcpka: Literal['enabled', 'disabled'] | None = None
    tcplog: StrictBool | None = None
    unique_id_format: StrictStr | None = None
    unique_id_header: StrictStr | None = None
