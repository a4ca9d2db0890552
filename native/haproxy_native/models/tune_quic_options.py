# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt


class TuneQuicOptions(Model):
    cc_cubic_min_losses: StrictInt | None = None
    cc_hystart: Literal['enabled', 'disabled'] | None = None
    disable_tx_pacing: StrictBool | None = None
    disable_udp_gso: StrictBool | None = None
    frontend_conn_tx_buffers_limit: StrictInt | None = None
    frontend_default_max_window_size: Annotated[StrictInt | None, Field(ge=10240)] = (
        None
    )
    frontend_glitches_threshold: Annotated[StrictInt | None, Field(ge=1)] = None
    frontend_max_data_size: StrictInt | None = None
    frontend_max_idle_timeout: Annotated[StrictInt | None, Field(ge=0)] = None
    frontend_max_streams_bidi: StrictInt | None = None
    frontend_max_tx_memory: StrictInt | None = None
    frontend_stream_max_total: StrictInt | None = None
    frontend_stream_data_ratio: Annotated[StrictInt | None, Field(ge=1, le=100)] = None
    max_frame_loss: StrictInt | None = None
    reorder_ratio: Annotated[StrictInt | None, Field(ge=0, le=100)] = None
    retry_threshold: StrictInt | None = None
    socket_owner: Literal['listener', 'connection'] | None = None
    zero_copy_fwd_send: Literal['enabled', 'disabled'] | None = None
