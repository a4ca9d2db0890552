# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import set_proxy_v2_tlv_fmt as set_proxy_v2_tlv_fmt_1


class ServerParams(Model):
    agent_addr: Annotated[
        StrictStr | None, Field(alias='agent-addr', pattern='^[^\\s]+$')
    ] = None
    agent_check: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='agent-check')
    ] = None
    agent_inter: Annotated[StrictInt | None, Field(alias='agent-inter', ge=0)] = None
    agent_port: Annotated[
        StrictInt | None, Field(alias='agent-port', ge=1, le=65535)
    ] = None
    agent_send: Annotated[StrictStr | None, Field(alias='agent-send')] = None
    allow_0rtt: StrictBool | None = None
    alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    backup: Literal['enabled', 'disabled'] | None = None
    cc: StrictStr | None = None
    check: Literal['enabled', 'disabled'] | None = None
    check_pool_conn_name: Annotated[
        StrictStr | None, Field(alias='check-pool-conn-name', pattern='^[^\\s]+$')
    ] = None
    check_reuse_pool: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='check-reuse-pool')
    ] = None
    check_send_proxy: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='check-send-proxy')
    ] = None
    check_sni: Annotated[
        StrictStr | None, Field(alias='check-sni', pattern='^[^\\s]+$')
    ] = None
    check_ssl: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='check-ssl')
    ] = None
    check_alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    check_proto: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    check_sni_auto: Literal['enabled', 'disabled'] | None = None
    check_via_socks4: Literal['enabled', 'disabled'] | None = None
    ciphers: StrictStr | None = None
    ciphersuites: StrictStr | None = None
    client_sigalgs: StrictStr | None = None
    cookie: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    crl_file: StrictStr | None = None
    curves: StrictStr | None = None
    downinter: Annotated[StrictInt | None, Field(ge=0)] = None
    error_limit: StrictInt | None = None
    fall: StrictInt | None = None
    fastinter: Annotated[StrictInt | None, Field(ge=0)] = None
    force_sslv3: Literal['enabled', 'disabled'] | None = None
    force_tlsv10: Literal['enabled', 'disabled'] | None = None
    force_tlsv11: Literal['enabled', 'disabled'] | None = None
    force_tlsv12: Literal['enabled', 'disabled'] | None = None
    force_tlsv13: Literal['enabled', 'disabled'] | None = None
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    hash_key: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    health_check_address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    health_check_port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    idle_ping: Annotated[StrictInt | None, Field(ge=0)] = None
    init_addr: Annotated[
        StrictStr | None, Field(alias='init-addr', pattern='^[^\\s]+$')
    ] = None
    init_state: Annotated[
        Literal['fully-up', 'up', 'down', 'fully-down'] | None,
        Field(alias='init-state'),
    ] = None
    inter: Annotated[StrictInt | None, Field(ge=0)] = None
    ktls: Literal['on', 'off'] | None = None
    log_bufsize: Annotated[StrictInt | None, Field(alias='log-bufsize')] = None
    log_proto: Literal['legacy', 'octet-count'] | None = None
    maintenance: Literal['enabled', 'disabled'] | None = None
    max_reuse: StrictInt | None = None
    maxconn: StrictInt | None = None
    maxqueue: StrictInt | None = None
    minconn: StrictInt | None = None
    namespace: StrictStr | None = None
    no_sslv3: Literal['enabled', 'disabled'] | None = None
    no_tlsv10: Literal['enabled', 'disabled'] | None = None
    no_tlsv11: Literal['enabled', 'disabled'] | None = None
    no_tlsv12: Literal['enabled', 'disabled'] | None = None
    no_tlsv13: Literal['enabled', 'disabled'] | None = None
    no_verifyhost: Literal['enabled', 'disabled'] | None = None
    npn: StrictStr | None = None
    observe: Literal['layer4', 'layer7'] | None = None
    on_error: Annotated[
        Literal['fastinter', 'fail-check', 'sudden-death', 'mark-down'] | None,
        Field(alias='on-error'),
    ] = None
    on_marked_down: Annotated[
        Literal['shutdown-sessions'] | None, Field(alias='on-marked-down')
    ] = None
    on_marked_up: Annotated[
        Literal['shutdown-backup-sessions'] | None, Field(alias='on-marked-up')
    ] = None
    pool_conn_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    pool_low_conn: StrictInt | None = None
    pool_max_conn: StrictInt | None = None
    pool_purge_delay: Annotated[StrictInt | None, Field(ge=0)] = None
    proto: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    proxy_v2_options: Annotated[
        list[Literal['authority', 'cert-cn', 'cert-key', 'cert-sig', 'crc32c', 'ssl', 'ssl-cipher', 'unique-id']] | None,
        Field(alias='proxy-v2-options'),
    ] = None
    quic_cc_algo: Annotated[
        Literal['cubic', 'newreno', 'bbr', 'nocc'] | None, Field(alias='quic-cc-algo')
    ] = None
    quic_cc_algo_max_window: Annotated[StrictInt | None, Field(ge=10, le=4194304)] = (
        None
    )
    redir: StrictStr | None = None
    renegotiate: Literal['enabled', 'disabled'] | None = None
    resolve_net: Annotated[
        StrictStr | None,
        Field(alias='resolve-net', pattern='^([A-Za-z0-9.:/]+)(,[A-Za-z0-9.:/]+)*$'),
    ] = None
    resolve_prefer: Annotated[
        Literal['ipv4', 'ipv6'] | None, Field(alias='resolve-prefer')
    ] = None
    resolve_opts: Annotated[
        StrictStr | None,
        Field(
            pattern='^(allow-dup-ip|ignore-weight|prevent-dup-ip)(,(allow-dup-ip|ignore-weight|prevent-dup-ip))*$'
        ),
    ] = None
    resolvers: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    rise: StrictInt | None = None
    send_proxy: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='send-proxy')
    ] = None
    send_proxy_v2: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='send-proxy-v2')
    ] = None
    send_proxy_v2_ssl: Literal['enabled', 'disabled'] | None = None
    send_proxy_v2_ssl_cn: Literal['enabled', 'disabled'] | None = None
    set_proxy_v2_tlv_fmt: Annotated[
        set_proxy_v2_tlv_fmt_1.SetProxyV2TlvFmt | None,
        Field(alias='set-proxy-v2-tlv-fmt'),
    ] = None
    shard: StrictInt | None = None
    sigalgs: StrictStr | None = None
    slowstart: Annotated[StrictInt | None, Field(ge=0)] = None
    sni: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    sni_auto: Literal['enabled', 'disabled'] | None = None
    socks4: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    source: StrictStr | None = None
    ssl: Literal['enabled', 'disabled'] | None = None
    ssl_cafile: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ssl_certificate: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    ssl_max_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    ssl_min_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    ssl_reuse: Literal['enabled', 'disabled'] | None = None
    sslv3: Literal['enabled', 'disabled'] | None = None
    stick: Literal['enabled', 'disabled'] | None = None
    strict_maxconn: Annotated[StrictBool | None, Field(alias='strict-maxconn')] = None
    tcp_md5sig: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    tcp_ut: Annotated[StrictInt | None, Field(ge=0)] = None
    tfo: Literal['enabled', 'disabled'] | None = None
    tls_tickets: Literal['enabled', 'disabled'] | None = None
    tlsv10: Literal['enabled', 'disabled'] | None = None
    tlsv11: Literal['enabled', 'disabled'] | None = None
    tlsv12: Literal['enabled', 'disabled'] | None = None
    tlsv13: Literal['enabled', 'disabled'] | None = None
    track: StrictStr | None = None
    verify: Literal['none', 'required'] | None = None
    verifyhost: StrictStr | None = None
    weight: StrictInt | None = None
    ws: Literal['auto', 'h1', 'h2'] | None = None
