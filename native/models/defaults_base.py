# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import balance as balance_1
from . import compression as compression_1
from . import cookie as cookie_1
from . import default_server as default_server_1
from . import email_alert as email_alert_1
from . import errorfile, errorfiles, errorloc
from . import forwarded as forwarded_1
from . import forwardfor as forwardfor_1
from . import hash_type as hash_type_1
from . import httpchk_params as httpchk_params_1
from . import monitor_uri as monitor_uri_1
from . import mysql_check_params as mysql_check_params_1
from . import originalto as originalto_1
from . import persist_rule as persist_rule_1
from . import pgsql_check_params as pgsql_check_params_1
from . import redispatch as redispatch_1
from . import smtpchk_params as smtpchk_params_1
from . import source as source_1
from . import stats_options as stats_options_1
from . import use_small_buffers as use_small_buffers_1


class DefaultsBase(Model):
    abortonclose: Literal['enabled', 'disabled'] | None = None
    accept_invalid_http_request: Literal['enabled', 'disabled'] | None = None
    accept_invalid_http_response: Literal['enabled', 'disabled'] | None = None
    accept_unsafe_violations_in_http_request: Literal['enabled', 'disabled'] | None = (
        None
    )
    accept_unsafe_violations_in_http_response: Literal['enabled', 'disabled'] | None = (
        None
    )
    adv_check: Literal['httpchk', 'ldap-check', 'mysql-check', 'pgsql-check', 'redis-check', 'smtpchk', 'ssl-hello-chk', 'tcp-check'] | None = (
        None
    )
    allbackups: Literal['enabled', 'disabled'] | None = None
    backlog: StrictInt | None = None
    balance: balance_1.Balance | None = None
    check_timeout: StrictInt | None = None
    checkcache: Literal['enabled', 'disabled'] | None = None
    clflog: StrictBool | None = None
    client_fin_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    client_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    clitcpka: Literal['enabled', 'disabled'] | None = None
    clitcpka_cnt: StrictInt | None = None
    clitcpka_idle: StrictInt | None = None
    clitcpka_intvl: StrictInt | None = None
    compression: compression_1.Compression | None = None
    connect_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    contstats: Literal['enabled'] | None = None
    cookie: cookie_1.Cookie | None = None
    default_backend: Annotated[
        StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    default_server: default_server_1.DefaultServer | None = None
    disable_h2_upgrade: Literal['enabled', 'disabled'] | None = None
    disabled: StrictBool | None = None
    dontlog_normal: Literal['enabled', 'disabled'] | None = None
    dontlognull: Literal['enabled', 'disabled'] | None = None
    dynamic_cookie_key: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    email_alert: email_alert_1.EmailAlert | None = None
    enabled: StrictBool | None = None
    error_files: list[errorfile.Errorfile] | None = None
    error_log_format: StrictStr | None = None
    errorfiles_from_http_errors: list[errorfiles.Errorfiles] | None = None
    errorloc302: errorloc.Errorloc | None = None
    errorloc303: errorloc.Errorloc | None = None
    external_check: Literal['enabled', 'disabled'] | None = None
    external_check_command: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = (
        None
    )
    external_check_path: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    forwarded: forwarded_1.Forwarded | None = None
    forwardfor: forwardfor_1.Forwardfor | None = None
    from_: Annotated[
        StrictStr | None, Field(alias='from', pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    fullconn: StrictInt | None = None
    h1_case_adjust_bogus_client: Literal['enabled', 'disabled'] | None = None
    h1_case_adjust_bogus_server: Literal['enabled', 'disabled'] | None = None
    hash_balance_factor: StrictInt | None = None
    hash_preserve_affinity: Literal['always', 'maxconn', 'maxqueue'] | None = None
    hash_type: hash_type_1.HashType | None = None
    http_buffer_request: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-buffer-request')
    ] = None
    http_drop_request_trailers: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-drop-request-trailers')
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
    http_pretend_keepalive: Literal['enabled', 'disabled'] | None = None
    http_request_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    http_restrict_req_hdr_names: Literal['preserve', 'delete', 'reject'] | None = None
    http_reuse: Literal['aggressive', 'always', 'never', 'safe'] | None = None
    http_send_name_header: StrictStr | None = None
    http_use_proxy_header: Literal['enabled', 'disabled'] | None = None
    httpchk_params: httpchk_params_1.HttpchkParams | None = None
    httplog: StrictBool | None = None
    httpslog: Literal['enabled', 'disabled'] | None = None
    idle_close_on_response: Literal['enabled', 'disabled'] | None = None
    independent_streams: Literal['enabled', 'disabled'] | None = None
    load_server_state_from_file: Literal['global', 'local', 'none'] | None = None
    log_format: StrictStr | None = None
    log_format_sd: StrictStr | None = None
    log_health_checks: Literal['enabled', 'disabled'] | None = None
    log_separate_errors: Literal['enabled', 'disabled'] | None = None
    log_steps: list[Literal['accept', 'request', 'connect', 'response', 'close', 'error', 'any']] | None = (
        None
    )
    log_tag: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    logasap: Literal['enabled', 'disabled'] | None = None
    max_keep_alive_queue: StrictInt | None = None
    maxconn: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    mode: Literal['tcp', 'http', 'log'] | None = None
    monitor_uri: monitor_uri_1.MonitorUri | None = None
    mysql_check_params: mysql_check_params_1.MysqlCheckParams | None = None
    name: Annotated[StrictStr, Field(pattern='^[A-Za-z0-9-_.:]+$')]
    nolinger: Literal['enabled', 'disabled'] | None = None
    originalto: originalto_1.Originalto | None = None
    persist: Literal['enabled', 'disabled'] | None = None
    persist_rule: persist_rule_1.PersistRule | None = None
    pgsql_check_params: pgsql_check_params_1.PgsqlCheckParams | None = None
    prefer_last_server: Literal['enabled', 'disabled'] | None = None
    queue_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    redispatch: redispatch_1.Redispatch | None = None
    retries: StrictInt | None = None
    retry_on: StrictStr | None = None
    server_fin_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    server_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    smtpchk_params: smtpchk_params_1.SmtpchkParams | None = None
    socket_stats: Literal['enabled', 'disabled'] | None = None
    source: source_1.Source | None = None
    splice_auto: Literal['enabled', 'disabled'] | None = None
    splice_request: Literal['enabled', 'disabled'] | None = None
    splice_response: Literal['enabled', 'disabled'] | None = None
    srvtcpka: Literal['enabled', 'disabled'] | None = None
    srvtcpka_cnt: StrictInt | None = None
    srvtcpka_idle: StrictInt | None = None
    srvtcpka_intvl: StrictInt | None = None
    stats_options: stats_options_1.StatsOptions | None = None
    tarpit_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    tcp_smart_accept: Literal['enabled', 'disabled'] | None = None
    tcp_smart_connect: Literal['enabled', 'disabled'] | None = None
    tcpka: Literal['enabled', 'disabled'] | None = None
    tcplog: StrictBool | None = None
    transparent: Literal['enabled', 'disabled'] | None = None
    tunnel_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    unique_id_format: StrictStr | None = None
    unique_id_header: StrictStr | None = None
    use_small_buffers: use_small_buffers_1.UseSmallBuffers | None = None
