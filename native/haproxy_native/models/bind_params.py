# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model, Whole
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import default_crt_list_item


class BindParams(Model):
    accept_netscaler_cip: StrictInt | None = None
    accept_proxy: StrictBool | None = None
    allow_0rtt: StrictBool | None = None
    alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    backlog: StrictStr | None = None
    ca_ignore_err: StrictStr | None = None
    ca_sign_file: StrictStr | None = None
    ca_sign_pass: StrictStr | None = None
    ca_verify_file: StrictStr | None = None
    cc: StrictStr | None = None
    ciphers: StrictStr | None = None
    ciphersuites: StrictStr | None = None
    client_sigalgs: StrictStr | None = None
    crl_file: StrictStr | None = None
    crt_ignore_err: StrictStr | None = None
    crt_list: StrictStr | None = None
    curves: StrictStr | None = None
    default_crt_list: list[default_crt_list_item.DefaultCrtListItem] | None = None
    defer_accept: StrictBool | None = None
    ecdhe: StrictStr | None = None
    expose_fd_listeners: StrictBool | None = None
    force_sslv3: StrictBool | None = None
    force_strict_sni: Literal['enabled', 'disabled'] | None = None
    force_tlsv10: StrictBool | None = None
    force_tlsv11: StrictBool | None = None
    force_tlsv12: StrictBool | None = None
    force_tlsv13: StrictBool | None = None
    generate_certificates: StrictBool | None = None
    gid: StrictInt | None = None
    group: StrictStr | None = None
    guid_prefix: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    id: StrictStr | None = None
    idle_ping: Annotated[StrictInt | None, Field(ge=0)] = None
    interface: StrictStr | None = None
    ktls: Literal['on', 'off'] | None = None
    label: StrictStr | None = None
    level: Literal['user', 'operator', 'admin'] | None = None
    maxconn: StrictInt | None = None
    mode: StrictStr | None = None
    mss: StrictStr | None = None
    namespace: StrictStr | None = None
    nbconn: StrictInt | None = None
    nice: StrictInt | None = None
    no_alpn: StrictBool | None = None
    no_ca_names: StrictBool | None = None
    no_sslv3: StrictBool | None = None
    no_strict_sni: StrictBool | None = None
    no_tls_tickets: StrictBool | None = None
    no_tlsv10: StrictBool | None = None
    no_tlsv11: StrictBool | None = None
    no_tlsv12: StrictBool | None = None
    no_tlsv13: StrictBool | None = None
    npn: StrictStr | None = None
    prefer_client_ciphers: StrictBool | None = None
    proto: StrictStr | None = None
    quic_cc_algo: Annotated[
        Literal['cubic', 'newreno', 'bbr', 'nocc'] | None, Field(alias='quic-cc-algo')
    ] = None
    quic_force_retry: Annotated[StrictBool | None, Field(alias='quic-force-retry')] = (
        None
    )
    quic_socket: Annotated[
        Literal['connection', 'listener'] | None, Field(alias='quic-socket')
    ] = None
    quic_cc_algo_burst_size: Annotated[StrictInt | None, Field(ge=0, le=1024)] = None
    quic_cc_algo_max_window: Annotated[StrictInt | None, Field(ge=10, le=4194304)] = (
        None
    )
    severity_output: Literal['none', 'number', 'string'] | None = None
    shards: Annotated[
        StrictStr | None, Field(pattern='^(by-thread|by-group|[0-9]+)$')
    ] = None
    sigalgs: StrictStr | None = None
    ssl: StrictBool | None = None
    ssl_cafile: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ssl_certificate: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ssl_max_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    ssl_min_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    sslv3: Literal['enabled', 'disabled'] | None = None
    strict_sni: StrictBool | None = None
    tcp_md5sig: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    tcp_ss: Whole[Literal[1, 2, 3]] | None = None
    tcp_user_timeout: StrictInt | None = None
    tfo: StrictBool | None = None
    thread: StrictStr | None = None
    tls_ticket_keys: StrictStr | None = None
    tls_tickets: Literal['enabled', 'disabled'] | None = None
    tlsv10: Literal['enabled', 'disabled'] | None = None
    tlsv11: Literal['enabled', 'disabled'] | None = None
    tlsv12: Literal['enabled', 'disabled'] | None = None
    tlsv13: Literal['enabled', 'disabled'] | None = None
    transparent: StrictBool | None = None
    uid: StrictStr | None = None
    user: StrictStr | None = None
    v4v6: StrictBool | None = None
    v6only: StrictBool | None = None
    verify: Literal['none', 'optional', 'required'] | None = None
