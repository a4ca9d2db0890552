# Generated from openapi/ by `make generate`; do not edit.

from typing import Annotated, Literal

from haproxy_native.models import Model
from pydantic import Field, StrictBool, StrictInt


class TuneOptions(Model):
    """Tuning of the process (HAProxy Configuration Manual, section 3.2)."""

    applet_zero_copy_forwarding: Literal['enabled', 'disabled'] | None = None
    """Whether internal services forward data without copying."""
    cli_max_payload_size: StrictInt | None = None
    """Bytes a payload of the Runtime API may have."""
    comp_maxlevel: StrictInt | None = None
    """Highest compression level."""
    defaults_purge: StrictBool | None = None
    """Whether defaults sections are freed once nothing refers to them."""
    disable_fast_forward: StrictBool | None = None
    """Whether data is never forwarded past the analysers."""
    disable_zero_copy_forwarding: StrictBool | None = None
    """Whether data is always copied when it is forwarded."""
    epoll_mask_events: list[Literal['err', 'hup', 'rdhup']] | None = None
    """Events of epoll that are ignored, for tests."""
    events_max_events_at_once: Annotated[StrictInt | None, Field(ge=1, le=10000)] = None
    """Events of the event handler taken in one go."""
    fail_alloc: StrictBool | None = None
    """Whether allocations fail at random, for tests."""
    fd_edge_triggered: Literal['enabled', 'disabled'] | None = None
    """Whether epoll works edge-triggered."""
    glitches_kill_cpu_usage: Annotated[StrictInt | None, Field(ge=0, le=100)] = None
    """CPU usage in percent above which connections with too many glitches are closed."""
    h1_be_glitches_threshold: Annotated[StrictInt | None, Field(ge=0)] = None
    """Glitches after which an HTTP/1 connection to a server is closed, 0 for never."""
    h1_fe_glitches_threshold: Annotated[StrictInt | None, Field(ge=0)] = None
    """Glitches after which an HTTP/1 connection of a client is closed, 0 for never."""
    h1_zero_copy_fwd_recv: Literal['enabled', 'disabled'] | None = None
    """Whether HTTP/1 is received without copying."""
    h1_zero_copy_fwd_send: Literal['enabled', 'disabled'] | None = None
    """Whether HTTP/1 is sent without copying."""
    h2_be_glitches_threshold: StrictInt | None = None
    """Glitches after which an HTTP/2 connection to a server is closed, 0 for never."""
    h2_be_initial_window_size: StrictInt | None = None
    """First window of an HTTP/2 stream with a server, in bytes."""
    h2_be_max_concurrent_streams: StrictInt | None = None
    """Streams at a time on an HTTP/2 connection to a server."""
    h2_be_max_frames_at_once: StrictInt | None = None
    """HTTP/2 frames of a server handled in one go, 0 for all."""
    h2_be_rxbuf: StrictInt | None = None
    """Receive buffer of an HTTP/2 connection to a server, in bytes."""
    h2_fe_glitches_threshold: StrictInt | None = None
    """Glitches after which an HTTP/2 connection of a client is closed, 0 for never."""
    h2_fe_initial_window_size: StrictInt | None = None
    """First window of an HTTP/2 stream with a client, in bytes."""
    h2_fe_max_concurrent_streams: StrictInt | None = None
    """Streams at a time on an HTTP/2 connection of a client."""
    h2_fe_max_frames_at_once: StrictInt | None = None
    """HTTP/2 frames of a client handled in one go, 0 for all."""
    h2_fe_max_rst_at_once: StrictInt | None = None
    """HTTP/2 resets of a client handled in one go, 0 for all."""
    h2_fe_max_total_streams: StrictInt | None = None
    """Streams after which an HTTP/2 connection of a client ends, 0 for never."""
    h2_fe_rxbuf: StrictInt | None = None
    """Receive buffer of an HTTP/2 connection of a client, in bytes."""
    h2_header_table_size: Annotated[StrictInt | None, Field(le=65535)] = None
    """Bytes of the dynamic header table of HTTP/2."""
    h2_initial_window_size: StrictInt | None = None
    """First window of an HTTP/2 stream, in bytes."""
    h2_log_errors: Literal['none', 'connection', 'stream'] | None = None
    """Which errors of HTTP/2 are logged."""
    h2_max_concurrent_streams: StrictInt | None = None
    """Streams at a time on an HTTP/2 connection."""
    h2_max_frame_size: StrictInt | None = None
    """Bytes of an HTTP/2 frame at most."""
    h2_zero_copy_fwd_send: Literal['enabled', 'disabled'] | None = None
    """Whether HTTP/2 is sent without copying."""
    http_cookielen: StrictInt | None = None
    """Bytes of a captured cookie at most."""
    http_logurilen: StrictInt | None = None
    """Bytes of a URI in logs at most."""
    http_maxhdr: Annotated[StrictInt | None, Field(ge=1, le=32767)] = None
    """Header fields of a message at most."""
    idle_pool_shared: Literal['enabled', 'disabled'] | None = None
    """Whether threads share idle connections to servers."""
    idletimer: Annotated[StrictInt | None, Field(ge=0, le=65535)] = None
    """Time without data after which a stream counts as idle. In milliseconds."""
    listener_default_shards: Literal['by-process', 'by-thread', 'by-group'] | None = (
        None
    )
    """Listening sockets of a bind line that does not say it."""
    listener_multi_queue: Literal['enabled', 'disabled'] | None = None
    """Whether connections are spread over the threads."""
    max_checks_per_thread: StrictInt | None = None
    """Checks at a time in a thread, 0 for any number."""
    max_rules_at_once: Annotated[StrictInt | None, Field(ge=0)] = None
    """Rules evaluated in one go."""
    maxaccept: StrictInt | None = None
    """Connections accepted in one go, -1 for any number."""
    maxpollevents: StrictInt | None = None
    """Events taken from the poller in one go."""
    maxrewrite: StrictInt | None = None
    """Bytes of a buffer kept free for rewriting headers."""
    memory_hot_size: StrictInt | None = None
    """Bytes of free memory each thread keeps at hand."""
    notsent_lowat_client: StrictInt | None = None
    """Unsent bytes kept in the kernel towards clients."""
    notsent_lowat_server: StrictInt | None = None
    """Unsent bytes kept in the kernel towards servers."""
    pattern_cache_size: StrictInt | None = None
    """Entries of the cache of pattern lookups, 0 for none."""
    peers_max_updates_at_once: StrictInt | None = None
    """Updates sent to a peer in one go."""
    pool_high_fd_ratio: StrictInt | None = None
    """Percent of file descriptors above which idle connections are closed at once."""
    pool_low_fd_ratio: StrictInt | None = None
    """Percent of file descriptors above which connections are not kept idle."""
    pt_zero_copy_forwarding: Literal['enabled', 'disabled'] | None = None
    """Whether TCP is forwarded without copying."""
    renice_runtime: Annotated[StrictInt | None, Field(ge=-20, le=19)] = None
    """Nice value of the process once it runs."""
    renice_startup: Annotated[StrictInt | None, Field(ge=-20, le=19)] = None
    """Nice value of the process while it starts."""
    ring_queues: StrictInt | None = None
    """Queues in front of each ring."""
    runqueue_depth: StrictInt | None = None
    """Tasks run in one go."""
    sched_low_latency: Literal['enabled', 'disabled'] | None = None
    """Whether short tasks are preferred."""
    stick_counters: StrictInt | None = None
    """Stick counters per connection."""
    takeover_other_tg_connections: Literal['none', 'restricted', 'full'] | None = None
    """Whether threads take idle connections of other thread groups."""
