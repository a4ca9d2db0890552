# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictInt, StrictStr

from . import balance as balance_1
from . import cookie as cookie_1
from . import default_server as default_server_1
from . import hash_type as hash_type_1
from . import httpchk_params as httpchk_params_1
from . import mysql_check_params as mysql_check_params_1
from . import persist_rule as persist_rule_1
from . import pgsql_check_params as pgsql_check_params_1
from . import redispatch as redispatch_1
from . import smtpchk_params as smtpchk_params_1
from . import source as source_1
from . import use_small_buffers as use_small_buffers_1


class ServerSideBase(Model):
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
    connect_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    cookie: cookie_1.Cookie | None = None
    default_server: default_server_1.DefaultServer | None = None
    dynamic_cookie_key: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    external_check: Literal['enabled', 'disabled'] | None = None
    external_check_command: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = (
        None
    )
    external_check_path: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    fullconn: StrictInt | None = None
    h1_case_adjust_bogus_server: Literal['enabled', 'disabled'] | None = None
    hash_balance_factor: StrictInt | None = None
    hash_preserve_affinity: Literal['always', 'maxconn', 'maxqueue'] | None = None
    hash_type: hash_type_1.HashType | None = None
    http_drop_request_trailers: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-drop-request-trailers')
    ] = None
    http_pretend_keepalive: Literal['enabled', 'disabled'] | None = None
    http_reuse: Literal['aggressive', 'always', 'never', 'safe'] | None = None
    http_send_name_header: StrictStr | None = None
    httpchk_params: httpchk_params_1.HttpchkParams | None = None
    load_server_state_from_file: Literal['global', 'local', 'none'] | None = None
    log_health_checks: Literal['enabled', 'disabled'] | None = None
    max_keep_alive_queue: StrictInt | None = None
    mysql_check_params: mysql_check_params_1.MysqlCheckParams | None = None
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
    source: source_1.Source | None = None
    srvtcpka: Literal['enabled', 'disabled'] | None = None
    srvtcpka_cnt: StrictInt | None = None
    srvtcpka_idle: StrictInt | None = None
    srvtcpka_intvl: StrictInt | None = None
    tcp_smart_connect: Literal['enabled', 'disabled'] | None = None
    transparent: Literal['enabled', 'disabled'] | None = None
    tunnel_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    use_small_buffers: use_small_buffers_1.UseSmallBuffers | None = None
