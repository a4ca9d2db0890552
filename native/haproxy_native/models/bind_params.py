# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model, Whole
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import default_crt_list_item


class BindParams(Model):
    """Options of a bind line (HAProxy Configuration Manual, section 5.1)."""

    accept_netscaler_cip: StrictInt | None = None
    """Magic number of the NetScaler client IP header that connections must begin with."""
    accept_proxy: StrictBool | None = None
    """Whether connections must begin with a PROXY protocol header, which gives the addresses."""
    allow_0rtt: StrictBool | None = None
    """Whether TLS 1.3 early data is taken; such requests can be replayed."""
    alpn: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Protocols offered by TLS ALPN, with commas, the preferred one first."""
    backlog: StrictStr | None = None
    """Length of the queue of connections the system has not handed over yet."""
    ca_ignore_err: StrictStr | None = None
    """Verification errors above depth 0 that are overlooked: all, or numbers with commas."""
    ca_sign_file: StrictStr | None = None
    """PEM file with the authority that signs generated certificates."""
    ca_sign_pass: StrictStr | None = None
    """Passphrase of the key of ca_sign_file."""
    ca_verify_file: StrictStr | None = None
    """PEM file with authorities for verification whose names are not sent to clients."""
    cc: StrictStr | None = None
    """TCP congestion control algorithm, as the system calls it."""
    ciphers: StrictStr | None = None
    """Ciphers up to TLS 1.2, in the format of OpenSSL."""
    ciphersuites: StrictStr | None = None
    """Cipher suites of TLS 1.3, with colons."""
    client_sigalgs: StrictStr | None = None
    """Signature algorithms allowed to client certificates, with colons."""
    crl_file: StrictStr | None = None
    """PEM file with revoked client certificates."""
    crt_ignore_err: StrictStr | None = None
    """Verification errors at depth 0 that are overlooked: all, or numbers with commas."""
    crt_list: StrictStr | None = None
    """File that lists certificates with options and SNI filters; several with colons."""
    curves: StrictStr | None = None
    """Elliptic curves of the key exchange, with colons."""
    default_crt_list: list[default_crt_list_item.DefaultCrtListItem] | None = None
    """Certificates shown to clients whose name matches none."""
    defer_accept: StrictBool | None = None
    """Whether a connection is taken only when its first data is there."""
    ecdhe: StrictStr | None = None
    """Elliptic curve of the ephemeral key exchange up to TLS 1.2."""
    expose_fd_listeners: StrictBool | None = None
    """Whether the Runtime API hands out the listening sockets here, for seamless reloads."""
    force_sslv3: StrictBool | None = None
    """Deprecated, says that sslv3 is enabled."""
    force_strict_sni: Literal['enabled', 'disabled'] | None = None
    """Whether clients whose name matches no certificate are turned away."""
    force_tlsv10: StrictBool | None = None
    """Deprecated, says that tlsv10 is enabled."""
    force_tlsv11: StrictBool | None = None
    """Deprecated, says that tlsv11 is enabled."""
    force_tlsv12: StrictBool | None = None
    """Deprecated, says that tlsv12 is enabled."""
    force_tlsv13: StrictBool | None = None
    """Deprecated, says that tlsv13 is enabled."""
    generate_certificates: StrictBool | None = None
    """Whether certificates are made on the fly for names that have none."""
    gid: StrictInt | None = None
    """Group number of a UNIX socket."""
    group: StrictStr | None = None
    """Group name of a UNIX socket."""
    guid_prefix: Annotated[StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')] = None
    """Prefix of the GUIDs of the listeners."""
    id: StrictStr | None = None
    """Number of the listener, unique among those of the frontend."""
    idle_ping: Annotated[StrictInt | None, Field(ge=0)] = None
    """Pause of a client after which an HTTP/2 PING asks whether it is still there. In milliseconds."""
    interface: StrictStr | None = None
    """Network interface to which the socket is bound."""
    ktls: Literal['on', 'off'] | None = None
    """Whether the kernel encrypts and decrypts; experimental."""
    label: StrictStr | None = None
    """Label that rules and logs can tell the listener by."""
    level: Literal['user', 'operator', 'admin'] | None = None
    """What the Runtime API may do here."""
    maxconn: StrictInt | None = None
    """Connections at a time on this listener."""
    mode: StrictStr | None = None
    """Access rights of a UNIX socket, octal."""
    mss: StrictStr | None = None
    """Largest TCP segment in bytes; a negative number is taken off the default."""
    namespace: StrictStr | None = None
    """Network namespace of the socket."""
    nbconn: StrictInt | None = None
    """Connections that are opened to the other side of a reverse connection."""
    nice: StrictInt | None = None
    """Priority of the tasks of this listener, from -1024 to 1024, lower first."""
    no_alpn: StrictBool | None = None
    """Whether ALPN is switched off, also the default of HTTPS and QUIC."""
    no_ca_names: StrictBool | None = None
    """Whether the names of the authorities are kept from the client."""
    no_sslv3: StrictBool | None = None
    """Deprecated, says that sslv3 is disabled."""
    no_strict_sni: StrictBool | None = None
    """Deprecated, says that force_strict_sni is disabled."""
    no_tls_tickets: StrictBool | None = None
    """Deprecated, says that tls_tickets is disabled."""
    no_tlsv10: StrictBool | None = None
    """Deprecated, says that tlsv10 is disabled."""
    no_tlsv11: StrictBool | None = None
    """Deprecated, says that tlsv11 is disabled."""
    no_tlsv12: StrictBool | None = None
    """Deprecated, says that tlsv12 is disabled."""
    no_tlsv13: StrictBool | None = None
    """Deprecated, says that tlsv13 is disabled."""
    npn: StrictStr | None = None
    """Protocols offered by TLS NPN, with commas; superseded by ALPN."""
    prefer_client_ciphers: StrictBool | None = None
    """Whether the order of the client's ciphers counts."""
    proto: StrictStr | None = None
    """Protocol that is spoken here, whatever was negotiated."""
    quic_cc_algo: Annotated[
        Literal['cubic', 'newreno', 'bbr', 'nocc'] | None, Field(alias='quic-cc-algo')
    ] = None
    """Congestion control algorithm of QUIC."""
    quic_force_retry: Annotated[StrictBool | None, Field(alias='quic-force-retry')] = (
        None
    )
    """Whether each QUIC client must first prove its address."""
    quic_socket: Annotated[
        Literal['connection', 'listener'] | None, Field(alias='quic-socket')
    ] = None
    """Whether QUIC connections get a socket each or share that of the listener."""
    quic_cc_algo_burst_size: Annotated[StrictInt | None, Field(ge=0, le=1024)] = None
    """Datagrams sent at once by the congestion control of QUIC."""
    quic_cc_algo_max_window: Annotated[StrictInt | None, Field(ge=10, le=4194304)] = (
        None
    )
    """Largest congestion window of QUIC, in KiB. In kilobytes."""
    severity_output: Literal['none', 'number', 'string'] | None = None
    """How answers of the Runtime API begin with their severity."""
    shards: Annotated[
        StrictStr | None, Field(pattern='^(by-thread|by-group|[0-9]+)$')
    ] = None
    """Listening sockets per address: by-thread, by-group or a number."""
    sigalgs: StrictStr | None = None
    """Signature algorithms of the key exchange, with colons."""
    ssl: StrictBool | None = None
    """Whether connections are TLS."""
    ssl_cafile: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """PEM file with the authorities that may have signed client certificates."""
    ssl_certificate: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """PEM file, or directory of such, with certificate and key; several with colons."""
    ssl_max_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    """Highest TLS version."""
    ssl_min_ver: Literal['SSLv3', 'TLSv1.0', 'TLSv1.1', 'TLSv1.2', 'TLSv1.3'] | None = (
        None
    )
    """Lowest TLS version."""
    sslv3: Literal['enabled', 'disabled'] | None = None
    """SSL 3.0 is the only version (enabled), or refused (disabled)."""
    strict_sni: StrictBool | None = None
    """Deprecated, says that force_strict_sni is enabled. false means not sent."""
    tcp_md5sig: Annotated[StrictStr | None, Field(pattern='^[^\\s]+$')] = None
    """Password of the TCP MD5 signature that each segment must have."""
    tcp_ss: Whole[Literal[1, 2, 3]] | None = None
    """SYN packets whose contents the system keeps for the sample functions."""
    tcp_user_timeout: StrictInt | None = None
    """Time in ms after which unacknowledged data ends the connection."""
    tfo: StrictBool | None = None
    """Whether TCP Fast Open is used."""
    thread: StrictStr | None = None
    """Threads that serve the listener: [group/]numbers or ranges, with commas."""
    tls_ticket_keys: StrictStr | None = None
    """File with the keys of session tickets, three or more lines."""
    tls_tickets: Literal['enabled', 'disabled'] | None = None
    """Whether sessions resume with tickets."""
    tlsv10: Literal['enabled', 'disabled'] | None = None
    """TLS 1.0 is the only version (enabled), or refused (disabled)."""
    tlsv11: Literal['enabled', 'disabled'] | None = None
    """TLS 1.1 is the only version (enabled), or refused (disabled)."""
    tlsv12: Literal['enabled', 'disabled'] | None = None
    """TLS 1.2 is the only version (enabled), or refused (disabled)."""
    tlsv13: Literal['enabled', 'disabled'] | None = None
    """TLS 1.3 is the only version (enabled), or refused (disabled)."""
    transparent: StrictBool | None = None
    """Whether the address need not be one of this machine (transparent proxying)."""
    uid: StrictStr | None = None
    """User number of a UNIX socket."""
    user: StrictStr | None = None
    """User name of a UNIX socket."""
    v4v6: StrictBool | None = None
    """Whether an IPv6 address takes IPv4 connections, too."""
    v6only: StrictBool | None = None
    """Whether an IPv6 address takes IPv6 connections only."""
    verify: Literal['none', 'optional', 'required'] | None = None
    """Whether clients show a certificate: not, if they have one, or must."""
