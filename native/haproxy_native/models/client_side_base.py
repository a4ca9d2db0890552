# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import monitor_uri as monitor_uri_1


class ClientSideBase(Model):
    accept_invalid_http_request: Literal['enabled', 'disabled'] | None = None
    accept_unsafe_violations_in_http_request: Literal['enabled', 'disabled'] | None = (
        None
    )
    backlog: StrictInt | None = None
    clflog: StrictBool | None = None
    client_fin_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    client_hs_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    client_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    clitcpka: Literal['enabled', 'disabled'] | None = None
    clitcpka_cnt: StrictInt | None = None
    clitcpka_idle: StrictInt | None = None
    clitcpka_intvl: StrictInt | None = None
    contstats: Literal['enabled'] | None = None
    default_backend: Annotated[
        StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    disable_h2_upgrade: Literal['enabled', 'disabled'] | None = None
    dontlog_normal: Literal['enabled', 'disabled'] | None = None
    dontlognull: Literal['enabled', 'disabled'] | None = None
    error_log_format: StrictStr | None = None
    h1_case_adjust_bogus_client: Literal['enabled', 'disabled'] | None = None
    http_drop_response_trailers: Annotated[
        Literal['enabled', 'disabled'] | None,
        Field(alias='http-drop-response-trailers'),
    ] = None
    http_ignore_probes: Literal['enabled', 'disabled'] | None = None
    http_no_delay: Literal['enabled', 'disabled'] | None = None
    http_use_proxy_header: Literal['enabled', 'disabled'] | None = None
    httplog: StrictBool | None = None
    httpslog: Literal['enabled', 'disabled'] | None = None
    idle_close_on_response: Literal['enabled', 'disabled'] | None = None
    log_format: StrictStr | None = None
    log_format_sd: StrictStr | None = None
    log_separate_errors: Literal['enabled', 'disabled'] | None = None
    log_steps: list[Literal['accept', 'request', 'connect', 'response', 'close', 'error', 'any']] | None = (
        None
    )
    logasap: Literal['enabled', 'disabled'] | None = None
    monitor_uri: monitor_uri_1.MonitorUri | None = None
    rate_limit_sessions: Annotated[StrictInt | None, Field(ge=0)] = None
    socket_stats: Literal['enabled', 'disabled'] | None = None
    tcp_smart_accept: Literal['enabled', 'disabled'] | None = None
    tcplog: StrictBool | None = None
    unique_id_format: StrictStr | None = None
    unique_id_header: StrictStr | None = None
