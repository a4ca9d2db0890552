# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Any, Literal

from native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import balance as balance_1
from . import compression as compression_1
from . import config_stick_table
from . import cookie as cookie_1
from . import default_server as default_server_1
from . import email_alert as email_alert_1
from . import errorfile, errorfiles, errorloc
from . import force_persist as force_persist_1
from . import force_persist_list_item
from . import forwarded as forwarded_1
from . import forwardfor as forwardfor_1
from . import hash_type as hash_type_1
from . import httpchk_params as httpchk_params_1
from . import ignore_persist as ignore_persist_1
from . import ignore_persist_list_item
from . import mysql_check_params as mysql_check_params_1
from . import originalto as originalto_1
from . import persist_rule as persist_rule_1
from . import pgsql_check_params as pgsql_check_params_1
from . import redispatch as redispatch_1
from . import smtpchk_params as smtpchk_params_1
from . import source as source_1
from . import stats_options as stats_options_1
from . import use_small_buffers as use_small_buffers_1


class BackendBase(Model):
    abortonclose: Literal['enabled', 'disabled'] | None = None
    accept_invalid_http_response: Literal['enabled', 'disabled'] | None = None
    accept_unsafe_violations_in_http_response: Literal['enabled', 'disabled'] | None = (
        None
    )
    adv_check: Literal['httpchk', 'ldap-check', 'mysql-check', 'pgsql-check', 'redis-check', 'smtpchk', 'ssl-hello-chk', 'tcp-check'] | None = (
        None
    )
    allbackups: Literal['enabled', 'disabled'] | None = None
    balance: balance_1.Balance | None = None
    check_timeout: StrictInt | None = None
    checkcache: Literal['enabled', 'disabled'] | None = None
    compression: compression_1.Compression | None = None
    connect_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    cookie: cookie_1.Cookie | None = None
    default_server: default_server_1.DefaultServer | None = None
    description: StrictStr | None = None
    disabled: StrictBool | None = None
    dynamic_cookie_key: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    email_alert: email_alert_1.EmailAlert | None = None
    enabled: StrictBool | None = None
    error_files: list[errorfile.Errorfile] | None = None
    errorfiles_from_http_errors: list[errorfiles.Errorfiles] | None = None
    errorloc302: errorloc.Errorloc | None = None
    errorloc303: errorloc.Errorloc | None = None
    external_check: Literal['enabled', 'disabled'] | None = None
    external_check_command: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = (
        None
    )
    external_check_path: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    force_persist: force_persist_1.ForcePersist | None = None
    force_persist_list: list[force_persist_list_item.ForcePersistListItem] | None = None
    forwarded: forwarded_1.Forwarded | None = None
    forwardfor: forwardfor_1.Forwardfor | None = None
    from_: Annotated[
        StrictStr | None, Field(alias='from', pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    fullconn: StrictInt | None = None
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
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
    http_no_delay: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-no-delay')
    ] = None
    http_connection_mode: Literal['httpclose', 'http-server-close', 'http-keep-alive'] | None = (
        None
    )
    http_keep_alive_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    http_pretend_keepalive: Literal['enabled', 'disabled'] | None = None
    http_request_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    http_restrict_req_hdr_names: Literal['preserve', 'delete', 'reject'] | None = None
    http_reuse: Literal['aggressive', 'always', 'never', 'safe'] | None = None
    http_send_name_header: StrictStr | None = None
    httpchk_params: httpchk_params_1.HttpchkParams | None = None
    id: StrictInt | None = None
    ignore_persist: ignore_persist_1.IgnorePersist | None = None
    ignore_persist_list: list[ignore_persist_list_item.IgnorePersistListItem] | None = (
        None
    )
    independent_streams: Literal['enabled', 'disabled'] | None = None
    load_server_state_from_file: Literal['global', 'local', 'none'] | None = None
    log_health_checks: Literal['enabled', 'disabled'] | None = None
    log_tag: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    max_keep_alive_queue: StrictInt | None = None
    metadata: dict[str, Any] | None = None
    mode: Literal['http', 'tcp', 'log'] | None = None
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
    server_state_file_name: StrictStr | None = None
    server_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    smtpchk_params: smtpchk_params_1.SmtpchkParams | None = None
    source: source_1.Source | None = None
    splice_auto: Literal['enabled', 'disabled'] | None = None
    splice_request: Literal['enabled', 'disabled'] | None = None
    splice_response: Literal['enabled', 'disabled'] | None = None
    spop_check: Literal['enabled', 'disabled'] | None = None
    srvtcpka: Literal['enabled', 'disabled'] | None = None
    srvtcpka_cnt: StrictInt | None = None
    srvtcpka_idle: StrictInt | None = None
    srvtcpka_intvl: StrictInt | None = None
    stats_options: stats_options_1.StatsOptions | None = None
    stick_table: config_stick_table.ConfigStickTable | None = None
    tarpit_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    tcp_smart_connect: Literal['enabled', 'disabled'] | None = None
    tcpka: Literal['enabled', 'disabled'] | None = None
    transparent: Literal['enabled', 'disabled'] | None = None
    tunnel_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    use_fcgi_app: StrictStr | None = None
    use_small_buffers: use_small_buffers_1.UseSmallBuffers | None = None
