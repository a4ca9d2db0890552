# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr


class RuntimeAddServer(Model):
    """A server to be added to the running process (HAProxy Management Guide, 9.3 add server), its members in the order of the command."""

    name: StrictStr | None = None
    """What the server is called."""
    address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Where it is reached; an IP address, a host name or the path of a socket."""
    port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """TCP or UDP port; that of the client without one."""
    agent_check: Annotated[
        Literal['enabled', 'disabled'] | None, Field(alias='agent-check')
    ] = None
    """Whether an agent is asked for the server's state."""
    agent_addr: Annotated[
        StrictStr | None, Field(alias='agent-addr', pattern='^[^\\s]+$')
    ] = None
    """Address that agent checks go to."""
    agent_port: Annotated[
        StrictInt | None, Field(alias='agent-port', ge=1, le=65535)
    ] = None
    """Port that agent checks go to."""
    agent_inter: Annotated[StrictInt | None, Field(alias='agent-inter', ge=0)] = None
    """Milliseconds between two agent checks."""
    agent_send: Annotated[StrictStr | None, Field(alias='agent-send')] = None
    """Text that is sent to the agent."""
    allow_0rtt: StrictBool | None = None
    """Whether early data of TLS 1.3 is sent."""
    alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Protocols that are offered by ALPN, separated by commas."""
    backup: Literal['enabled', 'disabled'] | None = None
    """Whether it serves only when all others are down."""
    ssl_cafile: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File of the authorities that its certificate is checked against."""
    check: Literal['enabled', 'disabled'] | None = None
    """Whether health checks are made."""
    check_alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Protocols that checks offer by ALPN, separated by commas."""
    health_check_address: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Address that health checks go to."""
    health_check_port: Annotated[StrictInt | None, Field(ge=1, le=65535)] = None
    """Port that health checks go to."""
    check_proto: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Multiplexer of checks."""
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
    check_via_socks4: Literal['enabled', 'disabled'] | None = None
    """Whether checks go through the SOCKS4 proxy."""
    ciphers: StrictStr | None = None
    """Cipher suites up to TLS 1.2 in OpenSSL's notation."""
    ciphersuites: StrictStr | None = None
    """Cipher suites of TLS 1.3 in OpenSSL's notation."""
    crl_file: StrictStr | None = None
    """File of revoked certificates."""
    ssl_certificate: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """File of the certificate and key that are shown to it."""
    maintenance: Literal['enabled', 'disabled'] | None = None
    """Whether it is in maintenance and serves nothing."""
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
    id: StrictStr | None = None
    """Number by which the server is known, above 0."""
    inter: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds between two checks."""
    maxconn: StrictInt | None = None
    """Connections at the same time; more are queued."""
    maxqueue: StrictInt | None = None
    """Connections that may wait for it."""
    minconn: StrictInt | None = None
    """Lower bound of the connections at the same time, which then grows with the load."""
    ssl_reuse: Literal['enabled', 'disabled'] | None = None
    """Whether TLS sessions are resumed."""
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
    slowstart: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds over which its load grows after it comes up."""
    sni: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Sample expression that gives the server name sent with TLS."""
    source: StrictStr | None = None
    """Address from which connections are made, with options."""
    ssl: Literal['enabled', 'disabled'] | None = None
    """Whether connections speak TLS."""
    ssl_max_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    """Highest protocol version that is spoken."""
    ssl_min_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    """Lowest protocol version that is spoken."""
    tfo: Literal['enabled', 'disabled'] | None = None
    """Whether TCP Fast Open is used."""
    tls_tickets: Literal['enabled', 'disabled'] | None = None
    """Whether TLS sessions are resumed by tickets."""
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
