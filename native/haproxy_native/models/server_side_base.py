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
    """Members of what connects to servers (HAProxy Configuration Manual, section 4.1)."""

    accept_invalid_http_response: Literal['enabled', 'disabled'] | None = None
    """Whether responses with forbidden characters are let through; an older name."""
    accept_unsafe_violations_in_http_response: Literal['enabled', 'disabled'] | None = (
        None
    )
    """Whether responses that break the rules of HTTP in unsafe ways are let through."""
    adv_check: Literal['httpchk', 'ldap-check', 'mysql-check', 'pgsql-check', 'redis-check', 'smtpchk', 'ssl-hello-chk', 'tcp-check'] | None = (
        None
    )
    """Protocol of health checks."""
    allbackups: Literal['enabled', 'disabled'] | None = None
    """Whether all backup servers serve at the same time instead of the first."""
    balance: balance_1.Balance | None = None
    check_timeout: StrictInt | None = None
    """Milliseconds that a check may take once the connection is made."""
    checkcache: Literal['enabled', 'disabled'] | None = None
    """Whether responses that set cookies and could be cached are blocked."""
    connect_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds that a connection may take."""
    cookie: cookie_1.Cookie | None = None
    default_server: default_server_1.DefaultServer | None = None
    dynamic_cookie_key: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Secret from which dynamic cookies are made."""
    external_check: Literal['enabled', 'disabled'] | None = None
    """Whether health checks are made by a program."""
    external_check_command: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = (
        None
    )
    """Program that makes the checks."""
    external_check_path: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Search path of that program."""
    fullconn: StrictInt | None = None
    """Connections of the backend at which servers reach their maxconn."""
    h1_case_adjust_bogus_server: Literal['enabled', 'disabled'] | None = None
    """Whether header names to HTTP/1 servers get their configured case."""
    hash_balance_factor: StrictInt | None = None
    """Percent of the average load at which a hashed server counts as full."""
    hash_preserve_affinity: Literal['always', 'maxconn', 'maxqueue'] | None = None
    """When a hashed server is kept although it is busy."""
    hash_type: hash_type_1.HashType | None = None
    http_drop_request_trailers: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='http-drop-request-trailers')
    ] = None
    """Whether trailers of requests are dropped."""
    http_pretend_keepalive: Literal['enabled', 'disabled'] | None = None
    """Whether keep-alive is announced to servers although the connection will be closed."""
    http_reuse: Literal['aggressive', 'always', 'never', 'safe'] | None = None
    """Which requests may use an idle connection."""
    http_send_name_header: StrictStr | None = None
    """Header that tells a server its own name."""
    httpchk_params: httpchk_params_1.HttpchkParams | None = None
    load_server_state_from_file: Literal['global', 'local', 'none'] | None = None
    """Where the states of servers are read from at start."""
    log_health_checks: Literal['enabled', 'disabled'] | None = None
    """Whether changes of a server's health are logged."""
    max_keep_alive_queue: StrictInt | None = None
    """Queued requests beyond which a kept connection is left for another server."""
    mysql_check_params: mysql_check_params_1.MysqlCheckParams | None = None
    persist: Literal['enabled', 'disabled'] | None = None
    """Whether persistence leads to servers that are down as well."""
    persist_rule: persist_rule_1.PersistRule | None = None
    pgsql_check_params: pgsql_check_params_1.PgsqlCheckParams | None = None
    prefer_last_server: Literal['enabled', 'disabled'] | None = None
    """Whether the server of the last request is used again where possible."""
    queue_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds that a request may wait for a server."""
    redispatch: redispatch_1.Redispatch | None = None
    retries: StrictInt | None = None
    """Attempts to connect after the first one."""
    retry_on: StrictStr | None = None
    """Errors upon which a request is tried again."""
    server_fin_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds without data from a server that has closed its side."""
    server_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds without data from the server."""
    smtpchk_params: smtpchk_params_1.SmtpchkParams | None = None
    source: source_1.Source | None = None
    srvtcpka: Literal['enabled', 'disabled'] | None = None
    """Whether TCP keep-alive packets go to servers."""
    srvtcpka_cnt: StrictInt | None = None
    """Keep-alive probes without an answer after which a server is given up."""
    srvtcpka_idle: StrictInt | None = None
    """Milliseconds of silence before the first keep-alive probe to a server."""
    srvtcpka_intvl: StrictInt | None = None
    """Milliseconds between two keep-alive probes to a server."""
    tcp_smart_connect: Literal['enabled', 'disabled'] | None = None
    """Whether the last packet of the handshake waits for data."""
    transparent: Literal['enabled', 'disabled'] | None = None
    """Whether connections go to the address that the client meant."""
    tunnel_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds without data in either direction of a tunnel."""
    use_small_buffers: use_small_buffers_1.UseSmallBuffers | None = None
