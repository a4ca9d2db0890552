# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt


class TuneQuicOptions(Model):
    """Tuning of QUIC (HAProxy Configuration Manual, section 3.2)."""

    cc_cubic_min_losses: StrictInt | None = None
    """Losses in a row after which the cubic algorithm sends less."""
    cc_hystart: Literal['enabled', 'disabled'] | None = None
    """Whether the slow start ends before packets are lost."""
    disable_tx_pacing: StrictBool | None = None
    """Whether packets are sent in bursts."""
    disable_udp_gso: StrictBool | None = None
    """Whether packets are handed to the kernel one by one."""
    frontend_conn_tx_buffers_limit: StrictInt | None = None
    """Buffers for sending on a connection of a client."""
    frontend_default_max_window_size: Annotated[StrictInt | None, Field(ge=10240)] = (
        None
    )
    """Bytes in flight on a connection of a client at most."""
    frontend_glitches_threshold: Annotated[StrictInt | None, Field(ge=1)] = None
    """Odd frames of a client after which its connection ends."""
    frontend_max_data_size: StrictInt | None = None
    """Bytes received and not yet read on a connection of a client at most."""
    frontend_max_idle_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    """Time without data after which a connection of a client ends. In milliseconds."""
    frontend_max_streams_bidi: StrictInt | None = None
    """Streams at a time that a client may open."""
    frontend_max_tx_memory: StrictInt | None = None
    """Bytes for sending on all connections of clients."""
    frontend_stream_max_total: StrictInt | None = None
    """Streams after which a connection of a client ends."""
    frontend_stream_data_ratio: Annotated[StrictInt | None, Field(ge=1, le=100)] = None
    """Percent of that which a single stream may take."""
    max_frame_loss: StrictInt | None = None
    """Losses of one frame after which the connection ends."""
    reorder_ratio: Annotated[StrictInt | None, Field(ge=0, le=100)] = None
    """Percent of the window that may come out of order before it counts as lost."""
    retry_threshold: StrictInt | None = None
    """Half-open connections per thread above which clients must prove their address."""
    socket_owner: Literal['listener', 'connection'] | None = None
    """Whether connections get a socket each or share that of the listener."""
    zero_copy_fwd_send: Literal['enabled', 'disabled'] | None = None
    """Whether QUIC is sent without copying."""
