# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated

from haproxy_native.models import Model
from pydantic import Field, StrictInt


class TuneBufferOptions(Model):
    """Sizes of buffers (HAProxy Configuration Manual, section 3.2)."""

    buffers_limit: StrictInt | None = None
    """Buffers of a thread at most, 0 for any number."""
    buffers_reserve: Annotated[StrictInt | None, Field(ge=2)] = None
    """Buffers kept for work that must be finished."""
    bufsize: StrictInt | None = None
    """Bytes of a buffer."""
    bufsize_large: StrictInt | None = None
    """Bytes of a large buffer."""
    bufsize_small: Annotated[StrictInt | None, Field(ge=1)] = None
    """Bytes of a small buffer."""
    pipesize: StrictInt | None = None
    """Bytes of a pipe for splicing."""
    rcvbuf_backend: StrictInt | None = None
    """Receive buffer of datagram sockets towards servers in the kernel, in bytes."""
    rcvbuf_client: StrictInt | None = None
    """Receive buffer of connections of clients in the kernel, in bytes."""
    rcvbuf_frontend: StrictInt | None = None
    """Receive buffer of datagram listeners in the kernel, in bytes."""
    rcvbuf_server: StrictInt | None = None
    """Receive buffer of connections to servers in the kernel, in bytes."""
    recv_enough: StrictInt | None = None
    """Bytes received after which no more are looked for."""
    sndbuf_backend: StrictInt | None = None
    """Send buffer of datagram sockets towards servers in the kernel, in bytes."""
    sndbuf_client: StrictInt | None = None
    """Send buffer of connections of clients in the kernel, in bytes."""
    sndbuf_frontend: StrictInt | None = None
    """Send buffer of datagram listeners in the kernel, in bytes."""
    sndbuf_server: StrictInt | None = None
    """Send buffer of connections to servers in the kernel, in bytes."""
