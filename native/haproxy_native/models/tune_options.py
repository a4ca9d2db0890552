# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt


class TuneOptions(Model):
    applet_zero_copy_forwarding: Literal['enabled', 'disabled'] | None = None
    cli_max_payload_size: StrictInt | None = None
    comp_maxlevel: StrictInt | None = None
    defaults_purge: StrictBool | None = None
    disable_fast_forward: StrictBool | None = None
    disable_zero_copy_forwarding: StrictBool | None = None
    epoll_mask_events: list[Literal['err', 'hup', 'rdhup']] | None = None
    events_max_events_at_once: Annotated[StrictInt | None, Field(ge=1, le=10000)] = None
    fail_alloc: StrictBool | None = None
    fd_edge_triggered: Literal['enabled', 'disabled'] | None = None
    glitches_kill_cpu_usage: Annotated[StrictInt | None, Field(ge=0, le=100)] = None
    h1_be_glitches_threshold: Annotated[StrictInt | None, Field(ge=0)] = None
    h1_fe_glitches_threshold: Annotated[StrictInt | None, Field(ge=0)] = None
    h1_zero_copy_fwd_recv: Literal['enabled', 'disabled'] | None = None
    h1_zero_copy_fwd_send: Literal['enabled', 'disabled'] | None = None
    h2_be_glitches_threshold: StrictInt | None = None
    h2_be_initial_window_size: StrictInt | None = None
    h2_be_max_concurrent_streams: StrictInt | None = None
    h2_be_max_frames_at_once: StrictInt | None = None
    h2_be_rxbuf: StrictInt | None = None
    h2_fe_glitches_threshold: StrictInt | None = None
    h2_fe_initial_window_size: StrictInt | None = None
    h2_fe_max_concurrent_streams: StrictInt | None = None
    h2_fe_max_frames_at_once: StrictInt | None = None
    h2_fe_max_rst_at_once: StrictInt | None = None
    h2_fe_max_total_streams: StrictInt | None = None
    h2_fe_rxbuf: StrictInt | None = None
    h2_header_table_size: Annotated[StrictInt | None, Field(le=65535)] = None
    h2_initial_window_size: StrictInt | None = None
    h2_log_errors: Literal['none', 'connection', 'stream'] | None = None
    h2_max_concurrent_streams: StrictInt | None = None
    h2_max_frame_size: StrictInt | None = None
    h2_zero_copy_fwd_send: Literal['enabled', 'disabled'] | None = None
    http_cookielen: StrictInt | None = None
    http_logurilen: StrictInt | None = None
    http_maxhdr: Annotated[StrictInt | None, Field(ge=1, le=32767)] = None
    idle_pool_shared: Literal['enabled', 'disabled'] | None = None
    idletimer: Annotated[StrictInt | None, Field(ge=0, le=65535)] = None
    listener_default_shards: Literal['by-process', 'by-thread', 'by-group'] | None = (
        None
    )
    listener_multi_queue: Literal['enabled', 'disabled'] | None = None
    max_checks_per_thread: StrictInt | None = None
    max_rules_at_once: Annotated[StrictInt | None, Field(ge=0)] = None
    maxaccept: StrictInt | None = None
    maxpollevents: StrictInt | None = None
    maxrewrite: StrictInt | None = None
    memory_hot_size: StrictInt | None = None
    notsent_lowat_client: StrictInt | None = None
    notsent_lowat_server: StrictInt | None = None
    pattern_cache_size: StrictInt | None = None
    peers_max_updates_at_once: StrictInt | None = None
    pool_high_fd_ratio: StrictInt | None = None
    pool_low_fd_ratio: StrictInt | None = None
    pt_zero_copy_forwarding: Literal['enabled', 'disabled'] | None = None
    renice_runtime: Annotated[StrictInt | None, Field(ge=-20, le=19)] = None
    renice_startup: Annotated[StrictInt | None, Field(ge=-20, le=19)] = None
    ring_queues: StrictInt | None = None
    runqueue_depth: StrictInt | None = None
    sched_low_latency: Literal['enabled', 'disabled'] | None = None
    stick_counters: StrictInt | None = None
    takeover_other_tg_connections: Literal['none', 'restricted', 'full'] | None = None
