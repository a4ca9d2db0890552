# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt, StrictStr

from . import monitor_uri as monitor_uri_1


class ClientSideBase(Model):
    """Members of what accepts connections (HAProxy Configuration Manual, section 4.1)."""

    accept_invalid_http_request: Literal['enabled', 'disabled'] | None = None
    """Whether requests with forbidden characters are let through; an older name."""
    accept_unsafe_violations_in_http_request: Literal['enabled', 'disabled'] | None = (
        None
    )
    """Whether requests that break the rules of HTTP in unsafe ways are let through."""
    backlog: StrictInt | None = None
    """Connections that the system may hold until they are accepted."""
    clflog: StrictBool | None = None
    """Whether requests are logged in the common log format."""
    client_fin_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds without data from a client that has closed its side."""
    client_hs_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds that the handshake with a client may take."""
    client_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Milliseconds without data from the client."""
    clitcpka: Literal['enabled', 'disabled'] | None = None
    """Whether TCP keep-alive packets go to clients."""
    clitcpka_cnt: StrictInt | None = None
    """Keep-alive probes without an answer after which a client is given up."""
    clitcpka_idle: StrictInt | None = None
    """Milliseconds of silence before the first keep-alive probe to a client."""
    clitcpka_intvl: StrictInt | None = None
    """Milliseconds between two keep-alive probes to a client."""
    contstats: Literal['enabled'] | None = None
    """Whether counters are updated while connections last."""
    default_backend: Annotated[
        StrictStr | None, Field(pattern='^[A-Za-z0-9-_.:]+$')
    ] = None
    """Backend of requests that no switching rule takes."""
    disable_h2_upgrade: Literal['enabled', 'disabled'] | None = None
    """Whether a connection may not turn from HTTP/1 to HTTP/2 without TLS."""
    dontlog_normal: Literal['enabled', 'disabled'] | None = None
    """Whether only what went wrong is logged."""
    dontlognull: Literal['enabled', 'disabled'] | None = None
    """Whether connections without data are left out of the log."""
    error_log_format: StrictStr | None = None
    """Log-format string of lines about connections that fail early."""
    h1_case_adjust_bogus_client: Literal['enabled', 'disabled'] | None = None
    """Whether header names to HTTP/1 clients get their configured case."""
    http_drop_response_trailers: Annotated[
        Literal['enabled', 'disabled'] | None,
        Field(alias='http-drop-response-trailers'),
    ] = None
    """Whether trailers of responses are dropped."""
    http_ignore_probes: Literal['enabled', 'disabled'] | None = None
    """Whether connections that send nothing are neither logged nor answered."""
    http_no_delay: Literal['enabled', 'disabled'] | None = None
    """Whether data is passed on at once, without waiting for full packets."""
    http_use_proxy_header: Literal['enabled', 'disabled'] | None = None
    """Whether Proxy-Connection is used in place of Connection."""
    httplog: StrictBool | None = None
    """Whether requests are logged with HTTP details."""
    httpslog: Literal['enabled', 'disabled'] | None = None
    """Whether requests are logged with HTTP and TLS details."""
    idle_close_on_response: Literal['enabled', 'disabled'] | None = None
    """Whether idle connections are closed only after a last response."""
    log_format: StrictStr | None = None
    """Log-format string of normal log lines."""
    log_format_sd: StrictStr | None = None
    """Log-format string of the structured data of RFC 5424."""
    log_separate_errors: Literal['enabled', 'disabled'] | None = None
    """Whether lines about errors have a higher level."""
    log_steps: list[Literal['accept', 'request', 'connect', 'response', 'close', 'error', 'any']] | None = (
        None
    )
    """Steps of a request at which a line is logged."""
    logasap: Literal['enabled', 'disabled'] | None = None
    """Whether a line is logged before the transfer has ended."""
    monitor_uri: monitor_uri_1.MonitorUri | None = None
    rate_limit_sessions: Annotated[StrictInt | None, Field(ge=0)] = None
    """Connections accepted in a second."""
    socket_stats: Literal['enabled', 'disabled'] | None = None
    """Whether each listening socket has statistics of its own."""
    tcp_smart_accept: Literal['enabled', 'disabled'] | None = None
    """Whether the acknowledgement of an accepted connection waits for data."""
    tcplog: StrictBool | None = None
    """Whether connections are logged with TCP details."""
    unique_id_format: StrictStr | None = None
    """Log-format string of the identifier that each request gets."""
    unique_id_header: StrictStr | None = None
    """Request header that carries the identifier."""
