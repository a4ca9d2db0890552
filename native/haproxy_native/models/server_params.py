# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import set_proxy_v2_tlv_fmt as set_proxy_v2_tlv_fmt_1


class ServerParams(Model):
    """Parameters that server, server-template and default-server lines have in common (HAProxy Configuration Manual, section 5.2)."""

    agent_addr: Annotated[
        StrictStr | None, Field(alias='agent-addr', pattern='^[^\\s]+$')
    ] = None
    """Address that agent checks go to."""
    agent_check: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='agent-check')
    ] = None
    """Whether an agent is asked for the server's state."""
    agent_inter: Annotated[StrictInt | None, Field(alias='agent-inter', ge=0)] = None
    """Milliseconds between two agent checks."""
    agent_port: Annotated[
        StrictInt | None, Field(alias='agent-port', ge=1, le=65535)
    ] = None
    """Port that agent checks go to."""
    agent_send: Annotated[StrictStr | None, Field(alias='agent-send')] = None
    """Text that is sent to the agent."""
    allow_0rtt: StrictBool | None = None
    """Whether early data of TLS 1.3 is sent."""
    alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Protocols that are offered by ALPN, separated by commas."""
    backup: Literal['enabled', 'disabled'] | None = None
    """Whether it serves only when all others are down."""
    cc: StrictStr | None = None
    """TCP congestion control algorithm of its connections."""
    check: Literal['enabled', 'disabled'] | None = None
    """Whether health checks are made."""
    check_pool_conn_name: Annotated[
        StrictStr | None, Field(alias='check-pool-conn-name', pattern='^[^\\s]+$')
    ] = None
    """Name of the pool whose connections checks reuse."""
    check_reuse_pool: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='check-reuse-pool')
    ] = None
    """Whether checks reuse idle connections."""
    check_send_proxy: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='check-send-proxy')
    ] = None
    """Whether checks send a PROXY protocol header."""
    check_sni: Annotated[
        StrictStr | None, Field(alias='check-sni', pattern='^[^\\s]+$')
    ] = None
    """Server name that checks send with TLS."""
    check_ssl: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='check-ssl')
    ] = None
    """Whether checks speak TLS."""
    check_alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Protocols that checks offer by ALPN, separated by commas."""
    check_proto: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Multiplexer of checks."""
    check_sni_auto: Literal['enabled', 'disabled'] | None = None
    """Whether checks take their server name from what they ask for."""
    check_via_socks4: Literal['enabled', 'disabled'] | None = None
    """Whether checks go through the SOCKS4 proxy."""
    ciphers: StrictStr | None = None
    """Cipher suites up to TLS 1.2 in OpenSSL's notation."""
    ciphersuites: StrictStr | None = None
    """Cipher suites of TLS 1.3 in OpenSSL's notation."""
    client_sigalgs: StrictStr | None = None
    """Signature algorithms for client certificates."""
    cookie: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Value of the cookie that leads to it."""
    crl_file: StrictStr | None = None
    """File of revoked certificates."""
    curves: StrictStr | None = None
    """Elliptic curves in OpenSSL's notation."""
    downinter: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds between two checks while it is down."""
    error_limit: StrictInt | None = None
    """Errors in a row that trigger what on-error says."""
    fall: StrictInt | None = None
    """Failed checks in a row after which it is down."""
    fastinter: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds between two checks while its state changes."""
    force_sslv3: Literal['enabled', 'disabled'] | None = None
    """Whether only SSL 3.0 is spoken; use sslv3."""
    force_tlsv10: Literal['enabled', 'disabled'] | None = None
    """Whether only TLS 1.0 is spoken; use tlsv10."""
    force_tlsv11: Literal['enabled', 'disabled'] | None = None
    """Whether only TLS 1.1 is spoken; use tlsv11."""
    force_tlsv12: Literal['enabled', 'disabled'] | None = None
    """Whether only TLS 1.2 is spoken; use tlsv12."""
    force_tlsv13: Literal['enabled', 'disabled'] | None = None
    """Whether only TLS 1.3 is spoken; use tlsv13."""
    guid: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    """Identifier of the server that is unique in the whole file."""
    hash_key: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """What it is called when hashes choose a server."""
    health_check_address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Address that health checks go to."""
    health_check_port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port that health checks go to."""
    idle_ping: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds after which an idle connection is probed."""
    init_addr: Annotated[
        StrictStr | None, Field(alias='init-addr', pattern='^[^\\s]+$')
    ] = None
    """How its address is found at start, methods separated by commas."""
    init_state: Annotated[
        Literal['fully-up', 'up', 'down', 'fully-down'] | None,
        Field(alias='init-state'),
    ] = None
    """State that it starts in."""
    inter: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds between two checks."""
    ktls: Literal['on', 'off'] | None = None
    """Whether the kernel does the encryption."""
    log_bufsize: Annotated[StrictInt | None, Field(alias='log-bufsize')] = None
    """Lines that are kept while the connection of a log server is down."""
    log_proto: Literal['legacy', 'octet-count'] | None = None
    """How log lines are framed over TCP."""
    maintenance: Literal['enabled', 'disabled'] | None = None
    """Whether it is in maintenance and serves nothing."""
    max_reuse: StrictInt | None = None
    """Times that a connection is used again at most."""
    maxconn: StrictInt | None = None
    """Connections at the same time; more are queued."""
    maxqueue: StrictInt | None = None
    """Connections that may wait for it."""
    minconn: StrictInt | None = None
    """Lower bound of the connections at the same time, which then grows with the load."""
    namespace: StrictStr | None = None
    """Network namespace of its connections."""
    no_sslv3: Literal['enabled', 'disabled'] | None = None
    """Whether SSL 3.0 is not spoken; use sslv3."""
    no_tlsv10: Literal['enabled', 'disabled'] | None = None
    """Whether TLS 1.0 is not spoken; use tlsv10."""
    no_tlsv11: Literal['enabled', 'disabled'] | None = None
    """Whether TLS 1.1 is not spoken; use tlsv11."""
    no_tlsv12: Literal['enabled', 'disabled'] | None = None
    """Whether TLS 1.2 is not spoken; use tlsv12."""
    no_tlsv13: Literal['enabled', 'disabled'] | None = None
    """Whether TLS 1.3 is not spoken; use tlsv13."""
    no_verifyhost: Literal['enabled', 'disabled'] | None = None
    """Whether the name in its certificate is not compared."""
    npn: StrictStr | None = None
    """Protocols that are offered by NPN, separated by commas."""
    observe: Literal['layer4', 'layer7'] | None = None
    """What of its normal traffic tells its health."""
    on_error: Annotated[
        Literal['fastinter', 'fail-check', 'sudden-death', 'mark-down'] | None,
        Field(alias='on-error'),
    ] = None
    """What happens when too many errors are observed."""
    on_marked_down: Annotated[
        Literal['shutdown-sessions'] | None, Field(alias='on-marked-down')
    ] = None
    """What happens when it goes down."""
    on_marked_up: Annotated[
        Literal['shutdown-backup-sessions'] | None, Field(alias='on-marked-up')
    ] = None
    """What happens when it comes up."""
    pool_conn_name: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Name by which idle connections are found again."""
    pool_low_conn: StrictInt | None = None
    """Idle connections of a thread below which others may not take them."""
    pool_max_conn: StrictInt | None = None
    """Idle connections that are kept at most."""
    pool_purge_delay: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds between two purges of idle connections."""
    proto: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Multiplexer of its connections."""
    proxy_v2_options: Annotated[
        list[Literal['authority', 'cert-cn', 'cert-key', 'cert-sig', 'crc32c', 'ssl', 'ssl-cipher', 'unique-id']] | None,
        Field(alias='proxy-v2-options'),
    ] = None
    """What the PROXY protocol header tells besides addresses."""
    quic_cc_algo: Annotated[
        Literal['cubic', 'newreno', 'bbr', 'nocc'] | None, Field(alias='quic-cc-algo')
    ] = None
    """Congestion control algorithm of QUIC."""
    quic_cc_algo_max_window: Annotated[StrictInt | None, Field(ge=10, le=4194304)] = (
        None
    )
    """Bytes of QUIC's congestion window at most. In kilobytes."""
    redir: StrictStr | None = None
    """Prefix of the redirects that are sent in place of serving GET and HEAD requests through it."""
    renegotiate: Literal['enabled', 'disabled'] | None = None
    """Whether TLS renegotiation is allowed."""
    resolve_net: Annotated[
        StrictStr | None,
        Field(alias='resolve-net', pattern='^([A-Za-z0-9.:/]+)(,[A-Za-z0-9.:/]+)*$'),
    ] = None
    """Networks from which resolved addresses are preferred."""
    resolve_prefer: Annotated[
        Literal['ipv4', 'ipv6'] | None, Field(alias='resolve-prefer')
    ] = None
    """Family of addresses that is preferred."""
    resolve_opts: Annotated[
        StrictStr | None,
        Field(
            pattern='^(allow-dup-ip|ignore-weight|prevent-dup-ip)(,(allow-dup-ip|ignore-weight|prevent-dup-ip))*$'
        ),
    ] = None
    """How resolved addresses may be used, separated by commas."""
    resolvers: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Resolvers section that looks up its name."""
    rise: StrictInt | None = None
    """Good checks in a row after which it is up."""
    send_proxy: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='send-proxy')
    ] = None
    """Whether a PROXY protocol header of version 1 is sent."""
    send_proxy_v2: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='send-proxy-v2')
    ] = None
    """Whether a PROXY protocol header of version 2 is sent."""
    send_proxy_v2_ssl: Literal['enabled', 'disabled'] | None = None
    """Whether that header tells about TLS as well."""
    send_proxy_v2_ssl_cn: Literal['enabled', 'disabled'] | None = None
    """Whether that header tells the name in the client's certificate as well."""
    set_proxy_v2_tlv_fmt: Annotated[
        set_proxy_v2_tlv_fmt_1.SetProxyV2TlvFmt | None,
        Field(alias='set-proxy-v2-tlv-fmt'),
    ] = None
    shard: StrictInt | None = None
    """Number of the shard of the peers section that it receives."""
    sigalgs: StrictStr | None = None
    """Signature algorithms in OpenSSL's notation."""
    slowstart: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds over which its load grows after it comes up."""
    sni: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Sample expression that gives the server name sent with TLS."""
    sni_auto: Literal['enabled', 'disabled'] | None = None
    """Whether the server name is taken from the requested host."""
    socks4: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Address and port of a SOCKS4 proxy that leads to it."""
    source: StrictStr | None = None
    """Address from which connections are made, with options."""
    ssl: Literal['enabled', 'disabled'] | None = None
    """Whether connections speak TLS."""
    ssl_cafile: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File of the authorities that its certificate is checked against."""
    ssl_certificate: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File of the certificate and key that are shown to it."""
    ssl_max_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    """Highest protocol version that is spoken."""
    ssl_min_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    """Lowest protocol version that is spoken."""
    ssl_reuse: Literal['enabled', 'disabled'] | None = None
    """Whether TLS sessions are resumed."""
    sslv3: Literal['enabled', 'disabled'] | None = None
    """Whether SSL 3.0 alone is spoken, or never."""
    stick: Literal['enabled', 'disabled'] | None = None
    """Whether stick tables learn it."""
    strict_maxconn: Annotated[StrictBool | None, Field(alias='strict-maxconn')] = None
    """Whether idle connections count as well against maxconn."""
    tcp_md5sig: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Secret of the TCP MD5 signature."""
    tcp_ut: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds that data may stay without acknowledgement."""
    tfo: Literal['enabled', 'disabled'] | None = None
    """Whether TCP Fast Open is used."""
    tls_tickets: Literal['enabled', 'disabled'] | None = None
    """Whether TLS sessions are resumed by tickets."""
    tlsv10: Literal['enabled', 'disabled'] | None = None
    """Whether TLS 1.0 alone is spoken, or never."""
    tlsv11: Literal['enabled', 'disabled'] | None = None
    """Whether TLS 1.1 alone is spoken, or never."""
    tlsv12: Literal['enabled', 'disabled'] | None = None
    """Whether TLS 1.2 alone is spoken, or never."""
    tlsv13: Literal['enabled', 'disabled'] | None = None
    """Whether TLS 1.3 alone is spoken, or never."""
    track: StrictStr | None = None
    """Server whose health it shares, with its backend."""
    verify: Literal['none', 'required'] | None = None
    """Whether its certificate is checked."""
    verifyhost: StrictStr | None = None
    """Name that its certificate has to have."""
    weight: StrictInt | None = None
    """Share of the load; 0 for none."""
    ws: Literal['auto', 'h1', 'h2'] | None = None
    """How WebSocket connections are made."""
